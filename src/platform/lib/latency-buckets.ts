/**
 * Latencies as counts in fixed buckets, each wider than the one before by a constant factor. The counts of many nodes
 * and hours are added bucket by bucket, and a percentile of the sum is as exact as one of a single hour: within 5 % from
 * 1 ms to 15 min. The stored rows depend on these numbers, so another layout needs a migration. Other positive figures,
 * such as tokens per second, are counted in the same buckets.
 */

/** The relative distance from the middle of a bucket to its edges; the rest of the 5 % is left for rounding. */
const RELATIVE_ERROR = 0.044
const FACTOR = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR)
const LOG_FACTOR = Math.log(FACTOR)
/** The value with equal relative distance to both edges of a bucket that begins at 1. */
const MIDDLE = (2 * FACTOR) / (1 + FACTOR)
const DIGITS = 3
const LATENCY_MS_MAX = 15 * 60_000

export const LATENCY_BUCKETS = Math.ceil(Math.log(LATENCY_MS_MAX) / LOG_FACTOR)

/** Returns the bucket of a latency; latencies outside 1 ms to 15 min count in the first or the last bucket. */
export function bucketOf(ms: number): number {
  // Negated, so that NaN also counts in the first bucket.
  if (!(ms > 1)) return 0
  return Math.min(Math.floor(Math.log(ms) / LOG_FACTOR), LATENCY_BUCKETS - 1)
}

/** The text of the same in SQL, of an expression that is one. */
export function sqlBucketOf(value: string): string {
  const bucket = `floor(ln((${value})::float8) / ${LOG_FACTOR})`
  return `case when ${value} > 1 then least(${bucket}, ${LATENCY_BUCKETS - 1})::int4 else 0 end`
}

/**
 * Returns the latency in ms, with three significant digits, that `share` (above 0, at most 1) of the counted calls did
 * not exceed; null if no call was counted.
 */
export function percentileOf(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  // By nearest rank, so that the percentile is a measured latency, which lies in the bucket found here.
  const rank = Math.ceil(total * share)
  let passed = 0
  const bucket = counts.findIndex((count) => (passed += count) >= rank)
  return Number((FACTOR ** bucket * MIDDLE).toPrecision(DIGITS))
}
