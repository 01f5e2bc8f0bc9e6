import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAIL_RETRIES, pauseAfter, USAGE_RETRIES, WEBHOOK_RETRIES } from './retry-schedule.ts'

const at = new Date('2026-11-21T12:00:00Z')
const SCHEDULES = [MAIL_RETRIES, WEBHOOK_RETRIES, USAGE_RETRIES]

test('pauses grow step by step, never end before their step, and are a fifth longer at most', () => {
  for (const schedule of SCHEDULES)
    for (const [index, stepMs] of schedule.stepsMs.entries()) {
      assert.ok(stepMs > (schedule.stepsMs[index - 1] ?? 0))
      assert.equal(pauseAfter(schedule, { failures: index + 1, at, random: () => 0 }), stepMs)
      const late = pauseAfter(schedule, { failures: index + 1, at, random: () => 0.999 })
      assert.ok(late !== undefined && late >= stepMs && late <= stepMs * 1.2, String(late))
    }
})

test('a mail is given up after six tries in a day, a message after ten in three days, a destination never', () => {
  const lastOf = ({ stepsMs }: typeof MAIL_RETRIES): number => stepsMs.length + 1
  assert.deepEqual([lastOf(MAIL_RETRIES), lastOf(WEBHOOK_RETRIES)], [6, 10])
  assert.equal(pauseAfter(MAIL_RETRIES, { failures: 6 }), undefined)
  assert.equal(pauseAfter(WEBHOOK_RETRIES, { failures: 10, retryAfter: '5' }), undefined)
  assert.equal(pauseAfter(USAGE_RETRIES, { failures: 100, random: () => 0 }), 3_600_000)
})

test('a receiver that asks for time gets no less than the step, and no more than it may', () => {
  const asked = (schedule: typeof MAIL_RETRIES, retryAfter?: string) =>
    pauseAfter(schedule, { failures: 2, retryAfter, at, random: () => 0 })
  assert.equal(asked(WEBHOOK_RETRIES, '400'), 400_000)
  assert.equal(asked(WEBHOOK_RETRIES, '1'), 300_000)
  assert.equal(asked(WEBHOOK_RETRIES, '999999999'), 600_000)
  assert.equal(asked(WEBHOOK_RETRIES, 'Sat, 21 Nov 2026 12:07:00 GMT'), 420_000)
  assert.equal(asked(WEBHOOK_RETRIES, 'Sat, 21 Nov 2020 12:07:00 GMT'), 300_000)
  assert.equal(asked(WEBHOOK_RETRIES, 'soon'), 300_000)
  assert.equal(asked(WEBHOOK_RETRIES), 300_000)
  assert.equal(asked(USAGE_RETRIES, '400'), 400_000)
  assert.equal(asked(USAGE_RETRIES, '999999999'), 3_600_000)
  assert.equal(asked(MAIL_RETRIES, '999999999'), 600_000)
})
