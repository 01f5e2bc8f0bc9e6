import { test } from 'node:test'
import { describeFailure, explore } from './explore.ts'
import { EVERYTHING } from './generate-schedule.ts'

test('scratch', { timeout: 1_200_000 }, async () => {
  const without = Object.fromEntries(
    (process.env.MODEL_WITHOUT ?? '').split(',').filter(Boolean).map((name) => [name, 0]),
  )
  const only = process.env.MODEL_ONLY
  const base = only
    ? { ...EVERYTHING, keyless: 0, marks: false, money: 0, keys: 0, silences: 0, crashes: 0, partitions: 0, disks: 0, ...Object.fromEntries(only.split(',').filter(Boolean).map((name) => [name, 2])) }
    : EVERYTHING
  const startedAt = performance.now()
  const { ran, failures } = await explore({
    vocabulary: { ...base, ...without },
    count: Number(process.env.MODEL_SCHEDULES ?? 400),
    seed: Number(process.env.TEST_SEED ?? 1),
    path: process.env.MODEL_PATH,
  })
  console.log(`ran ${ran} in ${Math.round(performance.now() - startedAt)} ms`)
  for (const failure of failures) console.log(describeFailure(failure) + '\n')
})
