import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Histogram } from './histogram.ts'

test('a percentile is accurate to one percent', () => {
  const histogram = new Histogram()
  for (let i = 1; i <= 10_000; i += 1) histogram.record(i / 100)
  for (const share of [0.01, 0.5, 0.95, 0.99]) {
    const expected = share * 100
    assert.ok(Math.abs(histogram.percentile(share) - expected) / expected < 0.01)
  }
  assert.equal(histogram.latencies().max, 100)
})

test('with a single value, every percentile is that value', () => {
  const histogram = new Histogram()
  histogram.record(1.5)
  assert.ok(Math.abs(histogram.percentile(0.5) - 1.5) < 0.015)
  assert.ok(Math.abs(histogram.percentile(0.99) - 1.5) < 0.015)
})

test('without values, every percentile is zero', () => {
  assert.deepEqual(new Histogram().latencies(), { p50: 0, p95: 0, p99: 0, p999: 0, max: 0 })
})
