import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createShieldWork } from './shield-work.ts'

const READ_MS = 20
/** At 160 ms of a second. */
const SPACE_MS = 125

function work(): number {
  const startedAt = performance.now()
  while (performance.now() < startedAt + READ_MS);
  return startedAt
}

test('readings of one customer are spaced by the time that they take; those of others do not wait', async () => {
  const read = createShieldWork()
  const own = ['a', 'a', 'a', 'a'].map((customer) => read(customer, work))
  const others = ['b', 'c'].map((customer) => read(customer, work))
  // In any order.
  const startedAt = (await Promise.all(own)).toSorted((one, next) => one - next)
  for (const [index, at] of startedAt.slice(1).entries())
    assert.ok(at - (startedAt[index] as number) >= SPACE_MS - 1, startedAt.join(' '))
  for (const at of await Promise.all(others)) assert.ok(at < (startedAt[1] as number), `${at} ${startedAt.join(' ')}`)
})

test('a reading that throws is the caller’s, and the next one follows', async () => {
  const read = createShieldWork()
  const broken = read('a', () => {
    throw new TypeError('broken')
  })
  await assert.rejects(broken, TypeError)
  assert.equal(await read('a', () => 1), 1)
})
