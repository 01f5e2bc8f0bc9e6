import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pauseAfter, TRIES_MAX } from './retry-schedule.ts'

const at = new Date('2026-11-21T12:00:00Z')
const STEPS_SECONDS = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]

function pause(tryNumber: number, httpStatus?: number, retryAfter?: string, random = 0) {
  return pauseAfter({ tryNumber, httpStatus, retryAfter }, at, () => random)
}

test('ten tries in three days, each a little later than its step, never earlier', () => {
  assert.equal(TRIES_MAX, 10)
  for (const [index, seconds] of STEPS_SECONDS.entries()) {
    assert.equal(pause(index + 1), seconds * 1000)
    const late = pause(index + 1, 500, undefined, 0.999) as number
    assert.ok(late > seconds * 1000 && late <= seconds * 1200, String(late))
  }
  assert.equal(pause(10), undefined)
  assert.equal(pause(10, 429, '5'), undefined)
})

test('a receiver that asks for time gets from the step to twice the step', () => {
  for (const status of [429, 502, 504]) {
    assert.equal(pause(2, status, '400'), 400_000)
    assert.equal(pause(2, status, '1'), 300_000)
    assert.equal(pause(2, status, '999999999'), 600_000)
    assert.equal(pause(2, status, 'Sat, 21 Nov 2026 12:07:00 GMT'), 420_000)
    assert.equal(pause(2, status, 'Sat, 21 Nov 2020 12:07:00 GMT'), 300_000)
    assert.equal(pause(2, status, 'soon'), 300_000)
    assert.equal(pause(2, status), 300_000)
  }
  assert.equal(pause(2, 500, '400'), 300_000)
})
