/** Runs functions one at a time, in the order of their calls. */
export interface Turns {
  take<T>(work: () => Promise<T>): Promise<T>
}

export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve()
  return {
    take(work) {
      const run = last.then(work)
      last = run.catch(() => undefined)
      return run
    },
  }
}
