/** Counts what subjects take in a minute, in this process alone: it protects a node's own resources, never money. */
export interface RateLimiter {
  /**
   * Takes `cost` of what the subject may take in a minute. Returns undefined, or the whole seconds until it may; a
   * refused subject has taken nothing.
   */
  take(subject: string, perMinute: number, cost?: number): number | undefined
  /** Counts what another process of this server let the subject take: milliseconds of its minute. */
  takeElsewhere(subject: string, ms: number): void
  /** As `take`, without taking. */
  findWait(subject: string, perMinute: number, cost?: number): number | undefined
}

const MINUTE_MS = 60_000
/** About 10 MB. An attack from more networks than this in a minute needs a defence before this server. */
const SUBJECTS_MAX = 100_000

/**
 * A leaky bucket (GCRA): a subject may take a minute's allowance at once, and then continuously as much as the minute
 * gives back. It stores one time for each subject, at which all that was taken is given back. Beyond `SUBJECTS_MAX`
 * subjects within a minute, further ones are not limited.
 */
export function createRateLimiter(
  now: () => number = () => performance.now(),
  /** Is called with the milliseconds of its minute that a subject took here. */
  onTaken: (subject: string, ms: number) => void = () => {},
): RateLimiter {
  const clearAt = new Map<string, number>()
  let sweptAt = now()

  function sweep(at: number): void {
    if (at - sweptAt < MINUTE_MS) return
    sweptAt = at
    for (const [subject, clear] of clearAt) if (clear <= at) clearAt.delete(subject)
  }

  function clearAfter(subject: string, perMinute: number, cost: number, at: number): number {
    return Math.max(at, clearAt.get(subject) ?? at) + (MINUTE_MS / perMinute) * cost
  }

  function set(subject: string, clear: number): void {
    if (clearAt.size < SUBJECTS_MAX || clearAt.has(subject)) clearAt.set(subject, clear)
  }

  function waitOf(clear: number, at: number): number | undefined {
    const ms = clear - at - MINUTE_MS
    // Sums of fractions are a little more than the minute that they make up.
    return ms > 0.001 ? Math.ceil(ms / 1_000) : undefined
  }

  return {
    take(subject, perMinute, cost = 1) {
      const at = now()
      sweep(at)
      const clear = clearAfter(subject, perMinute, Math.min(cost, perMinute), at)
      const wait = waitOf(clear, at)
      if (wait !== undefined) return wait
      set(subject, clear)
      onTaken(subject, (MINUTE_MS / perMinute) * Math.min(cost, perMinute))
      return undefined
    },
    takeElsewhere(subject, ms) {
      const at = now()
      sweep(at)
      set(subject, Math.max(at, clearAt.get(subject) ?? at) + ms)
    },
    findWait(subject, perMinute, cost = 1) {
      const at = now()
      return waitOf(clearAfter(subject, perMinute, Math.min(cost, perMinute), at), at)
    },
  }
}
