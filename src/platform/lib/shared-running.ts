/**
 * How many works of a subject run at once in all processes of a server: each process sends its own counts to the others,
 * `AFTER_MS` after a change, so a limit over them all can be passed by what begins within that time.
 */
export interface SharedRunning {
  /** Records how many run in this process now. */
  changed(subject: string, own: number): void
  /** How many run in the other processes, as far as is known. */
  elsewhere(subject: string): number
}

export type RunningCounts = readonly (readonly [subject: string, own: number])[]

export interface RunningExchange {
  /** One kind of subject; the names of two kinds never meet. */
  of(kind: string): SharedRunning
  /** The counts of another process; each replaces the previous count of its subject. */
  receive(from: string, counts: RunningCounts): void
  /** The other process has ended, so nothing runs there. */
  forget(from: string): void
  /** Sends all counts, for a process that is new. */
  sendAll(): void
}

export const NOTHING_ELSEWHERE: SharedRunning = { changed() {}, elsewhere: () => 0 }

const AFTER_MS = 20

export function createRunningExchange(send: (counts: RunningCounts) => void): RunningExchange {
  const own = new Map<string, number>()
  const others = new Map<string, Map<string, number>>()
  const dirty = new Set<string>()
  let timer: NodeJS.Timeout | undefined

  function flush(): void {
    timer = undefined
    const counts = [...dirty].map((subject) => [subject, own.get(subject) ?? 0] as const)
    dirty.clear()
    if (counts.length > 0) send(counts)
  }

  function note(subject: string): void {
    dirty.add(subject)
    timer ??= setTimeout(flush, AFTER_MS).unref()
  }

  return {
    of: (kind) => ({
      changed(subject, count) {
        const name = `${kind} ${subject}`
        if (count === 0) own.delete(name)
        else own.set(name, count)
        note(name)
      },
      elsewhere(subject) {
        const name = `${kind} ${subject}`
        let sum = 0
        for (const counts of others.values()) sum += counts.get(name) ?? 0
        return sum
      },
    }),
    receive(from, counts) {
      const known = others.get(from) ?? new Map<string, number>()
      others.set(from, known)
      for (const [subject, count] of counts) {
        if (count === 0) known.delete(subject)
        else known.set(subject, count)
      }
    },
    forget: (from) => void others.delete(from),
    sendAll() {
      for (const subject of own.keys()) note(subject)
    },
  }
}
