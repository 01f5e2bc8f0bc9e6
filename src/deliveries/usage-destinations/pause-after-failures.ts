import { readRetryAfter } from '../../platform/lib/read-retry-after.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
/** The pause after so many failures in a row; the last one stays. */
const STEPS_MS = [
  10 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  60 * MINUTE_MS,
]
const PAUSE_MS_MAX = 60 * MINUTE_MS
/** So that destinations that failed together are not tried again together. */
const JITTER = 0.2

/** In milliseconds. A collector that asks for time (`Retry-After`) gets up to an hour, and never less than the step. */
export function pauseAfterFailures(
  failures: number,
  retryAfter: string | undefined,
  at: Date,
  random: () => number = Math.random,
): number {
  const stepMs = STEPS_MS[Math.min(failures, STEPS_MS.length) - 1] ?? PAUSE_MS_MAX
  const askedMs = Math.min(readRetryAfter(retryAfter, at) ?? 0, PAUSE_MS_MAX)
  return Math.round(Math.max(stepMs, askedMs) * (1 + JITTER * random()))
}
