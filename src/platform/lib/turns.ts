/** Lets a few take turns; the others wait in the order in which they came. */
export interface Turns {
  /** Resolves to the function that ends the turn. */
  take(): Promise<() => void>
}

export function createTurns(atOnceMax: number): Turns {
  const waiting: (() => void)[] = []
  let taken = 0
  return {
    async take() {
      if (taken < atOnceMax) taken += 1
      else await new Promise<void>((resolve) => waiting.push(resolve))
      let hasEnded = false
      return () => {
        if (hasEnded) return
        hasEnded = true
        const next = waiting.shift()
        // The turn passes on, so the number of those taken stays.
        if (next) next()
        else taken -= 1
      }
    },
  }
}
