/**
 * Latencies as counts in fixed buckets, each a constant factor wider than the one before. Counts of many
 * nodes and hours are added up bucket by bucket, and a percentile of the sum is as exact as one of a
 * single hour: within 5 % from 1 ms to 15 min. The stored rows depend on these numbers: another layout
 * is a new migration.
 */

/** How far the middle of a bucket is from its edges; what is left of the 5 % is for the rounding. */
const RELATIVE_ERROR = 0.044
const FACTOR = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR)
const LOG_FACTOR = Math.log(FACTOR)
/** Of equal relative distance to both edges of a bucket that begins at 1. */
const MIDDLE = (2 * FACTOR) / (1 + FACTOR)
const DIGITS = 3
const LATENCY_MS_MAX = 15 * 60_000

export const LATENCY_BUCKETS = Math.ceil(Math.log(LATENCY_MS_MAX) / LOG_FACTOR)

/** The bucket of a latency; what is outside of 1 ms to 15 min counts in the first or the last one. */
export function bucketOf(ms: number): number {
  // Asked this way round, what is not a number is in the first bucket too.
  if (!(ms > 1)) return 0
  return Math.min(Math.floor(Math.log(ms) / LOG_FACTOR), LATENCY_BUCKETS - 1)
}

/**
 * The latency in ms, of three digits, that `share` (above 0, 1 at most) of the counted calls did not
 * exceed; null where none was counted.
 */
export function percentileMs(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  // The nearest rank: a latency that was measured, so that it lies in the bucket that is found.
  const rank = Math.ceil(total * share)
  let passed = 0
  const bucket = counts.findIndex((count) => (passed += count) >= rank)
  return Number((FACTOR ** bucket * MIDDLE).toPrecision(DIGITS))
}
