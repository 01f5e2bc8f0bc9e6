import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeFlatness } from './judge-flatness.ts'

const limits = { warmUpMinutes: 10, perHourMax: 8 }
const hour = Array.from({ length: 60 }, (_, minute) => minute)
/** Noise of two either way, always the same. */
const noise = (minute: number): number => ((minute * 7) % 5) - 2

test('a leak below the noise of each reading is found', () => {
  const judged = judgeFlatness(
    hour.map((minute) => 100 + minute / 5 + noise(minute)),
    limits,
  )
  assert.equal(judged?.isFlat, false)
  assert.ok(Math.abs(judged.perHour - 12) < 1)
})

test('noise, a warm-up and single peaks are no leak', () => {
  const judged = judgeFlatness(
    hour.map((minute) => Math.min(100, minute * 10) + noise(minute) + (minute % 13 === 0 ? 80 : 0)),
    limits,
  )
  assert.equal(judged?.isFlat, true)
})

test('what shrinks is flat', () => {
  assert.equal(
    judgeFlatness(
      hour.map((minute) => 100 - minute),
      limits,
    )?.isFlat,
    true,
  )
})

test('a short run is not judged', () => {
  assert.equal(judgeFlatness(hour.slice(0, 15), limits), undefined)
})
