import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createUnpaidWork, UNPAID_WORK_MAX } from './unpaid-work.ts'

test('a customer has so many unpaid answers in an hour, and waits for the oldest to be an hour old', () => {
  let nowMs = 1_000
  const work = createUnpaidWork(() => nowMs)
  for (let count = 0; count < UNPAID_WORK_MAX; count++) {
    assert.equal(work.findWait('one'), undefined)
    work.note('one')
    nowMs += 60_000
  }
  assert.equal(work.findWait('one'), 3_600 - UNPAID_WORK_MAX * 60)
  assert.equal(work.findWait('other'), undefined)
  nowMs += 3_600_000 - UNPAID_WORK_MAX * 60_000
  assert.equal(work.findWait('one'), undefined)
})
