/** Runs the writes of files one at a time, in the order of their calls. */
export interface WriteOrder {
  add<T>(work: () => Promise<T>): Promise<T>
}

export function createWriteOrder(): WriteOrder {
  let last: Promise<unknown> = Promise.resolve()
  return {
    add(work) {
      const run = last.then(work)
      last = run.catch(() => undefined)
      return run
    },
  }
}
