import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNaturalBatcher } from './natural-batcher.ts'

const pause = () => new Promise((resolve) => setTimeout(resolve, 5))

test('items that arrive while a batch runs form the next one, in order', async () => {
  const batches: number[][] = []
  const batcher = createNaturalBatcher<number, number>(100, async (items) => {
    batches.push(items)
    await pause()
    return items.map((item) => item * 2)
  })
  const first = batcher.submit(1)
  const rest = [2, 3, 4].map((item) => batcher.submit(item))
  assert.deepEqual(await Promise.all([first, ...rest]), [2, 4, 6, 8])
  assert.deepEqual(batches, [[1], [2, 3, 4]])
})

test('an idle batcher starts at once after a batch of one, and gathers items after a larger batch', async () => {
  const batches: number[][] = []
  const batcher = createNaturalBatcher<number, number>(100, async (items) => {
    batches.push(items)
    return items
  })
  for (const items of [[1], [2, 3, 4], [5, 6], [7], [8, 9]]) {
    await Promise.all(items.map((item) => batcher.submit(item)))
    await batcher.whenIdle()
  }
  assert.deepEqual(batches, [[1], [2], [3, 4], [5, 6], [7], [8], [9]])
})

test('a batch is never larger than its limit, and a failed one fails only its own items', async () => {
  let runs = 0
  const batcher = createNaturalBatcher<number, number>(2, async (items) => {
    assert.ok(items.length <= 2)
    if (++runs === 2) throw new Error('broken')
    return items
  })
  const outcomes = await Promise.allSettled([1, 2, 3, 4, 5].map((item) => batcher.submit(item)))
  assert.deepEqual(
    outcomes.map((outcome) => outcome.status),
    ['fulfilled', 'rejected', 'rejected', 'fulfilled', 'fulfilled'],
  )
  await batcher.whenIdle()
  assert.equal(batcher.waiting, 0)
})
