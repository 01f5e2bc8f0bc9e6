import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOwnTime, type OwnTime } from './own-time.ts'
import { isRefusal } from './refusal.ts'

const READ_MS = 20
const WAITING_MAX = 3
/** At 160 ms of a second. */
const SPACE_MS = 125

async function read<Result>(time: OwnTime, customer: string, work: () => Result): Promise<Result> {
  const turn = time.turn(customer)
  assert.ok(!turn || !isRefusal(turn))
  if (turn) await turn
  return time.take(customer, work)
}

function work(): number {
  const startedAt = performance.now()
  while (performance.now() < startedAt + READ_MS);
  return startedAt
}

test('readings of one customer are spaced by the time that they take; those of others do not wait', async () => {
  const time = createOwnTime(WAITING_MAX)
  const own = ['a', 'a', 'a', 'a'].map((customer) => read(time, customer, work))
  const others = ['b', 'c'].map((customer) => read(time, customer, work))
  // In any order.
  const startedAt = (await Promise.all(own)).toSorted((one, next) => one - next)
  for (const [index, at] of startedAt.slice(1).entries())
    assert.ok(at - (startedAt[index] as number) >= SPACE_MS - 1, startedAt.join(' '))
  for (const at of await Promise.all(others))
    assert.ok(at < (startedAt[1] as number), `${at} ${startedAt.join(' ')}`)
})

test('a reading that throws is the caller’s, and the next one follows', async () => {
  const time = createOwnTime(WAITING_MAX)
  const broken = read(time, 'a', () => {
    throw new TypeError('broken')
  })
  await assert.rejects(broken, TypeError)
  assert.equal(await read(time, 'a', () => 1), 1)
})

test('only so many works of one customer wait', async () => {
  const time = createOwnTime(WAITING_MAX)
  time.take('a', work)
  const turns = Array.from({ length: WAITING_MAX }, () => time.turn('a'))
  assert.ok(turns.every((turn) => turn instanceof Promise))
  const excess = time.turn('a')
  assert.ok(excess && isRefusal(excess))
  assert.equal(time.turn('b'), undefined)
  await Promise.all(turns)
  time.take('a', work)
  assert.ok(time.turn('a') instanceof Promise)
})
