import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createFairTurns, type EndTurn } from './fair-turns.ts'

function createTestTurns(limits: { atOnceMax?: number; waitingMax?: number } = {}) {
  const turns = createFairTurns({ atOnceMax: 2, waitingMax: 10, ownPerSecond: 1_000, ...limits })
  const begun: string[] = []
  const ends: EndTurn[] = []
  return {
    begun,
    take: (owner: string): boolean => {
      const turn = turns.take(owner)
      void turn?.then((end) => {
        begun.push(owner)
        ends.push(end)
      })
      return turn !== undefined
    },
    end: async (amount = 0): Promise<void> => {
      await nextTurn()
      ends.shift()?.(amount)
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
