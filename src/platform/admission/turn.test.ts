import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createSharedSlices, createTurns, inSlices, type Turn } from './turn.ts'

function createTestTurns(limits: { atOnceMax?: number; waitingMax?: number } = {}) {
  const turns = createTurns({ atOnceMax: 2, waitingMax: 10, ownPerSecond: 1_000, ...limits })
  const begun: string[] = []
  const turnsBegun: Turn[] = []
  return {
    begun,
    take: (owner: string): boolean => {
      const turn = turns.take(owner)
      void turn?.then((each) => {
        begun.push(owner)
        turnsBegun.push(each)
      })
      return turn !== undefined
    },
    end: async (amount = 0): Promise<void> => {
      await nextTurn()
      const each = turnsBegun.shift()
      if (each) each.amount = amount
      each?.[Symbol.dispose]()
      await nextTurn()
    },
  }
}

test('the owners come round, and each has one turn at a time', async () => {
  const { take, end, begun } = createTestTurns()
  for (const owner of ['a', 'a', 'a', 'b', 'b', 'c']) take(owner)
  await nextTurn()
  assert.equal(begun.join(''), 'ab')
  for (let i = 0; i < 6; i++) await end()
  assert.equal(begun.join(''), 'ababca')
})

test('after much work an owner waits, and the others do not', async () => {
  const { take, end, begun } = createTestTurns({ atOnceMax: 1 })
  for (const owner of ['a', 'a', 'b', 'b']) take(owner)
  await end(1_000_000)
  await end()
  await end()
  take('c')
  await nextTurn()
  assert.equal(begun.join(''), 'abbc')
})

test('only so many works of one owner wait', async () => {
  const { take, begun } = createTestTurns({ atOnceMax: 1, waitingMax: 2 })
  assert.deepEqual(['a', 'a', 'a', 'a', 'b'].map(take), [true, true, true, false, true])
  await nextTurn()
  assert.equal(begun.join(''), 'a')
})

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
  const most = seen.reduce((most, at, index) => Math.max(most, at - (seen[index - 1] ?? 0)), 0)
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
