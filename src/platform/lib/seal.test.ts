import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { createId } from './ids.ts'
import { seal, SealError, unseal } from './seal.ts'

const key = randomBytes(32)
const secret = randomBytes(32)

function reasonOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    assert.ok(error instanceof SealError)
    return error.reason
  }
  return 'unsealed'
}

test('a sealed secret can be opened, and is never sealed the same way twice', () => {
  const id = createId()
  const [one, other] = [seal(key, id, secret), seal(key, id, secret)]
  assert.notDeepEqual(one, other)
  for (const sealed of [one, other]) {
    assert.deepEqual(unseal(key, id, sealed), secret)
    assert.equal(sealed.indexOf(secret.subarray(0, 8)), -1)
  }
  assert.deepEqual(unseal(key, id.toUpperCase(), one), secret)
  assert.deepEqual(unseal(key, id, seal(key, id, Buffer.alloc(0))), Buffer.alloc(0))
})

test('a sealed secret cannot be opened in another row, with another key, or with a flipped bit', () => {
  const id = createId()
  const sealed = seal(key, id, secret)
  assert.equal(
    reasonOf(() => unseal(key, createId(), sealed)),
    'damaged',
  )
  assert.equal(
    reasonOf(() => unseal(randomBytes(32), id, sealed)),
    'other_key',
  )
  for (let at = 0; at < sealed.length; at++) {
    const turned = Buffer.from(sealed)
    turned[at] = (turned[at] as number) ^ 1
    assert.notEqual(
      reasonOf(() => unseal(key, id, turned)),
      'unsealed',
      `byte ${at}`,
    )
  }
  for (let length = 0; length < sealed.length; length++)
    assert.notEqual(
      reasonOf(() => unseal(key, id, sealed.subarray(0, length))),
      'unsealed',
    )
})

test('a key of another length is refused', () => {
  for (const bytes of [0, 16, 31, 33])
    assert.throws(() => seal(randomBytes(bytes), createId(), secret))
})
