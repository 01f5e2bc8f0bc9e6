import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../test/harness/fast-check.ts'
import { bucketOf, LATENCY_BUCKETS, percentileOf } from './latency-buckets.ts'

const MS_MAX = 15 * 60_000
const latency = fc.double({ min: 1, max: MS_MAX, noNaN: true })
const latencies = fc.array(latency, { minLength: 1, maxLength: 300 })

function count(values: readonly number[]): number[] {
  const counts = Array.from({ length: LATENCY_BUCKETS }, () => 0)
  for (const ms of values) {
    const bucket = bucketOf(ms)
    counts[bucket] = (counts[bucket] as number) + 1
  }
  return counts
}

function exactPercentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.ceil(sorted.length * share) - 1] as number
}

function assertWithin5Percent(found: number | null, exact: number): void {
  assert.ok(found !== null)
  assert.ok(Math.abs(found - exact) <= exact * 0.05, `${found} is more than 5 % from ${exact}`)
}

test('the number of buckets matches the stored rows', () => {
  assert.equal(LATENCY_BUCKETS, 156)
})

test('any latency from 1 ms to 15 min comes back within 5 %', () => {
  fc.assert(
    fc.property(latency, (ms) => assertWithin5Percent(percentileOf(count([ms]), 0.5), ms)),
    { numRuns: 5_000 },
  )
  for (const ms of [1, 1.5, 2, 100, 1_000, 60_000, MS_MAX - 1, MS_MAX])
    assertWithin5Percent(percentileOf(count([ms]), 1), ms)
})

test('percentiles are within 5 % of those of the latencies themselves', () => {
  fc.assert(
    fc.property(latencies, fc.constantFrom(0.01, 0.5, 0.95, 0.99, 1), (values, share) =>
      assertWithin5Percent(percentileOf(count(values), share), exactPercentile(values, share)),
    ),
  )
})

test('added counts have the percentiles of all their latencies together', () => {
  fc.assert(
    fc.property(latencies, latencies, (some, others) => {
      const [left, right] = [count(some), count(others)]
      const sum = left.map((number, bucket) => number + (right[bucket] as number))
      assert.deepEqual(sum, count([...some, ...others]))
      assertWithin5Percent(percentileOf(sum, 0.95), exactPercentile([...some, ...others], 0.95))
    }),
  )
})

test('a longer latency is never in an earlier bucket', () => {
  fc.assert(
    fc.property(latency, latency, (one, other) =>
      assert.equal(Math.sign(bucketOf(one) - bucketOf(other)) * Math.sign(one - other) >= 0, true),
    ),
  )
})

test('latencies out of range count in the nearest bucket', () => {
  for (const ms of [0.999, 0, -5, -Infinity, Number.NaN]) assert.equal(bucketOf(ms), 0)
  for (const ms of [MS_MAX * 2, Number.MAX_VALUE, Infinity])
    assert.equal(bucketOf(ms), LATENCY_BUCKETS - 1)
})

test('without latencies there is no percentile', () => {
  assert.equal(percentileOf(count([]), 0.5), null)
})
