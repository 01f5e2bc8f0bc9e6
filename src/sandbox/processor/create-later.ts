/** Runs an act after a delay, unless the sandbox is closed before. */
export interface Later {
  (act: () => void): void
  close(): void
}

export function createLater(afterMs: number, save: () => Promise<void>): Later {
  const timers = new Set<NodeJS.Timeout>()
  const later = (act: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer)
      act()
      save().catch((error: unknown) => console.error('the sandbox state:', error))
    }, afterMs)
    timer.unref()
    timers.add(timer)
  }
  const close = (): void => {
    for (const timer of timers) clearTimeout(timer)
  }
  return Object.assign(later, { close })
}
