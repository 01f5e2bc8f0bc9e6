/** Other tabs of this browser: they share the cookie of the session, and announce its changes to each other. */
const channel = typeof BroadcastChannel === 'function' ? new BroadcastChannel('session') : undefined

/** The customer who is signed in by now; null after a sign-out. */
export function notifyTabs(customerId: string | null): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no other origins
  channel?.postMessage(customerId)
}

export function onNewsOfTabs(act: (customerId: string | null) => void): void {
  channel?.addEventListener('message', (event) =>
    act((event as Event & { data: string | null }).data),
  )
}
