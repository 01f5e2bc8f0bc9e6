/** Cleanup functions to run at sign-out; each page registers its own. */
const acts = new Set<() => void>()

export function onSignOut(act: () => void): void {
  acts.add(act)
}

export function forgetPerson(): void {
  for (const act of acts) act()
  try {
    sessionStorage.clear()
  } catch {
    // A browser without storage has nothing to clear.
  }
}
