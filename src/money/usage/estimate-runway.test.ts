import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estimateRunway } from './estimate-runway.ts'

test('a debt lasts no day and is critical, also where almost nothing is spent', () => {
  const runway = estimateRunway(-1n, 0n, 30)
  assert.deepEqual([runway.runwayDays, runway.isCritical], [0, true])
  assert.equal(estimateRunway(0n, 0n, 30).runwayDays, null)
})
