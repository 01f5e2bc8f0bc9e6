import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRunningCalls } from './running-calls.ts'

test('a running call learns that its hold is kept', () => {
  const calls = createRunningCalls(() => 0)
  const running = calls.begin({ id: 'a hold', customerId: 'a customer', epoch: 0 }, false)
  assert.equal(running.isKept, false)
  calls.noteKept([{ id: 'a hold', customerId: 'a customer', outputTokensSeen: 0 }])
  assert.equal(running.isKept, true)
})
