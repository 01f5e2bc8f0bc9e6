import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inSlices } from './in-slices.ts'

test('every step is done in order, and the event loop turns after each five milliseconds of them', async () => {
  let at = 0
  const done: number[] = []
  const turns: number[] = []
  let isOver = false
  const turn = (): void => {
    if (isOver) return
    turns.push(done.length)
    setImmediate(turn)
  }
  setImmediate(turn)
  await inSlices(
    () => {
      at += 2
      return done.push(done.length) < 12
    },
    () => at,
  )
  isOver = true
  assert.deepEqual(done, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  assert.deepEqual([...new Set(turns)].slice(0, 3), [3, 6, 9])
})
