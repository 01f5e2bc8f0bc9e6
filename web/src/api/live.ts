/**
 * The customer's balance and charges, as server-sent events. All tabs of a browser share one connection, where
 * the browser has locks: the tab that holds the lock reads, and passes the events on.
 */
import { readServerSentEvents } from './server-sent-events.ts'
import { send } from './send.ts'
import { forgetSession, knownToken } from './session.ts'

export interface LiveAccount {
  readonly customer_id: string
  readonly balance_brl: number
  readonly charged_brl: number
}

/** After a stream that ended, and after one that was refused. */
const AGAIN_MS = 5_000
const REFUSED_MS = 60_000

/** `onBreak`: the stream has ended, so changes may be missed until the next event. Returns the end of it. */
export function followAccount(
  customerId: string,
  onEvent: (account: LiveAccount) => void,
  onBreak: () => void,
): () => void {
  const stop = new AbortController()
  const channel =
    typeof BroadcastChannel === 'function' ? new BroadcastChannel(`live:${customerId}`) : undefined
  channel?.addEventListener('message', (event) =>
    onEvent((event as Event & { data: LiveAccount }).data),
  )
  const read = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const pauseMs = await readOnce(customerId, stop.signal, (account) => {
        onEvent(account)
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no other origins
        channel?.postMessage(account)
      })
      if (stop.signal.aborted) return
      onBreak()
      await pause(pauseMs, stop.signal)
    }
  }
  const { locks } = navigator as { locks?: LockManager }
  const done = locks ? locks.request(`live:${customerId}`, { signal: stop.signal }, read) : read()
  // Only the wait for the lock fails, when it is no longer wanted.
  Promise.resolve(done).catch(() => {})
  return () => {
    stop.abort()
    channel?.close()
  }
}

/** Reads one stream to its end; returns the time until the next one. */
async function readOnce(
  customerId: string,
  signal: AbortSignal,
  onEvent: (account: LiveAccount) => void,
): Promise<number> {
  try {
    const token = knownToken()
    const headers = {
      accept: 'text/event-stream',
      ...(token === undefined ? {} : { 'x-csrf-token': token }),
    }
    const answer = await send('/v1/me/live', { headers, signal })
    if (answer.status === 401) forgetSession()
    if (!answer.ok || !answer.body) return REFUSED_MS
    for await (const data of readServerSentEvents(answer.body)) {
      const account = JSON.parse(data) as LiveAccount
      if (account.customer_id === customerId) onEvent(account)
    }
  } catch {
    // The network, or the end of the page.
  }
  return AGAIN_MS
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
