import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOwnTime, TOO_MANY_WAIT, type OwnTime } from './own-time.ts'

const READ_MS = 20
const WAITING_MAX = 3
/** At 160 ms of a second. */
const SPACE_MS = 125

async function read<Result>(time: OwnTime, customer: string, work: () => Result): Promise<Result> {
  return (await time.takeInTurn(customer, work)) as Result
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

test('works in slices of one customer follow each other; those of two run beside each other', async () => {
  const time = createOwnTime(WAITING_MAX)
  const done: string[] = []
  const ends = new Map<string, () => void>()
  const slices = (customer: string, name: string): Promise<void> =>
    time.takeSlices(customer, async () => {
      done.push(`${name} begins`)
      await new Promise<void>((resolve) => ends.set(name, resolve))
      done.push(`${name} ends`)
      return 0
    })
  const works = [slices('a', 'first'), slices('a', 'second'), slices('b', 'other')]
  await new Promise(setImmediate)
  assert.deepEqual(done, ['first begins', 'other begins'])
  ends.get('other')?.()
  ends.get('first')?.()
  await Promise.all([works[0], works[2], new Promise(setImmediate)])
  assert.equal(done.at(-1), 'second begins')
  ends.get('second')?.()
  await Promise.all(works)
})

test('only so many works of one customer wait', async () => {
  const time = createOwnTime(WAITING_MAX)
  time.take('a', work)
  const turns = Array.from({ length: WAITING_MAX }, () => time.turn('a'))
  assert.ok(turns.every((turn) => turn instanceof Promise))
  assert.equal(time.turn('a'), TOO_MANY_WAIT)
  assert.equal(time.turn('b'), undefined)
  await Promise.all(turns)
  time.take('a', work)
  assert.ok(time.turn('a') instanceof Promise)
})
