/** How late the timers of this process run: more than moments show that it has more work than it can do. */
export interface Lateness {
  /** Milliseconds: the average of the last second or so, in which one long pause counts for little. */
  readonly ms: number
}

const EVERY_MS = 50
/** A longer pause counts as one of this length. */
const COUNTED_MS_MAX = 500
/** The weight of the newest timer in the average. */
const SMOOTHING = 0.1

export function watchLateness(): Lateness & { close(): Promise<void> } {
  let ms = 0
  let dueAtMs = performance.now() + EVERY_MS
  const timer = setInterval(() => {
    const nowMs = performance.now()
    const lateMs = Math.min(Math.max(nowMs - dueAtMs, 0), COUNTED_MS_MAX)
    ms += (lateMs - ms) * SMOOTHING
    dueAtMs = nowMs + EVERY_MS
  }, EVERY_MS).unref()
  return {
    get ms() {
      return ms
    },
    async close() {
      clearInterval(timer)
    },
  }
}
