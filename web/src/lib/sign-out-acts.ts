/** What has to be forgotten when somebody leaves, known to the page that remembers it. */
const acts = new Set<() => void>()

export function onSignOut(act: () => void): void {
  acts.add(act)
}

export function forgetPerson(): void {
  for (const act of acts) act()
  try {
    sessionStorage.clear()
  } catch {
    // A browser that keeps nothing has nothing to forget.
  }
}
