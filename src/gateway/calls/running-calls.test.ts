import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRunningCalls } from './running-calls.ts'

test('a confirmed checkpoint makes the hold of a running call durable', () => {
  const calls = createRunningCalls(() => 0)
  const running = calls.begin({ id: 'a hold', customerId: 'a customer', epoch: 0 }, false)
  assert.equal(running.isHoldDurable, false)
  calls.recordDurable([{ id: 'a hold', customerId: 'a customer', outputTokensSeen: 0 }])
  assert.equal(running.isHoldDurable, true)
})
