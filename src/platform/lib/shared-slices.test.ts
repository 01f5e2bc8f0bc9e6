import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSharedSlices } from './shared-slices.ts'

/** Each step of a work takes 2 ms, so a slice has three. */
function shared() {
  let at = 0
  const inSharedSlices = createSharedSlices(() => at)
  const done: string[] = []
  const work = (name: string, steps: number): Promise<void> =>
    inSharedSlices(() => {
      at += 2
      done.push(name)
      return done.filter((each) => each === name).length < steps
    })
  return { done, work }
}

test('works take turns, and a short one does not wait for the end of a long one', async () => {
  const { done, work } = shared()
  await Promise.all([work('a', 7), work('b', 2), work('c', 4)])
  assert.equal(done.join(''), 'aaabbcccaaaca')
})

test('the event loop turns after each slice, also where many works wait', async () => {
  const { done, work } = shared()
  const seen: number[] = []
  let isOver = false
  const turn = (): void => {
    if (isOver) return
    seen.push(done.length)
    setImmediate(turn)
  }
  setImmediate(turn)
  await Promise.all(['a', 'b', 'c', 'd'].map((name) => work(name, 6)))
  isOver = true
  const most = seen.reduce((most, at, place) => Math.max(most, at - (seen[place - 1] ?? 0)), 0)
  assert.equal(most, 3)
})

test('a work that fails ends its turn', async () => {
  const { done, work } = shared()
  const inSharedSlices = createSharedSlices()
  await assert.rejects(
    inSharedSlices(() => {
      throw new Error('no such text')
    }),
    /no such text/,
  )
  await inSharedSlices(() => false)
  await work('a', 1)
  assert.deepEqual(done, ['a'])
})
