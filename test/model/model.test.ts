// deep: generated schedules of a model
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { effort, seedOr } from '../harness/effort.ts'
import { describeFailure, explore } from './explore.ts'
import { EVERYTHING } from './generate-schedule.ts'

const SCHEDULES = effort({ ordinary: 300, full: 100_000 })
const SEED = seedOr(20_261_122)

test('after any faults of nodes on one database, its rows are those of the reference ledger', async () => {
  const { ran, failures } = await explore({
    vocabulary: EVERYTHING,
    count: Number(process.env.MODEL_SCHEDULES ?? SCHEDULES),
    seed: SEED,
    path: process.env.MODEL_PATH,
  })
  assert.deepEqual(failures.map(describeFailure), [], `${ran} schedules were run`)
})
