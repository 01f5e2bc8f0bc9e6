import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRestartPace } from './restart-pace.ts'

test('a steady worker is replaced at once; quick deaths wait longer each time, up to five seconds', () => {
  const pace = createRestartPace()
  assert.equal(pace.died(60_000), 0)
  const pauses = Array.from({ length: 9 }, () => pace.died(0))
  assert.deepEqual(pauses, [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000])
  assert.equal(pace.quickDeaths, 9)
  assert.equal(pace.died(10_000), 0)
  assert.equal(pace.quickDeaths, 0)
  assert.equal(pace.died(9_999), 100)
})
