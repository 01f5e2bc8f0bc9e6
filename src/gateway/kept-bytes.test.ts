import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createByteBudget } from '../lib/byte-budget.ts'
import { createKeptBytes } from './kept-bytes.ts'

test('files of the calls of one customer share its bytes with bodies, and go back at the end of the call', () => {
  const memory = createByteBudget({ ownBytesMax: 100, bytesMax: 1_000 })
  memory.add('c:one', 30)
  const [first, second] = [createKeptBytes(memory, 'c:one'), createKeptBytes(memory, 'c:one')]
  const other = createKeptBytes(memory, 'c:other')
  assert.ok(first.take(40) && first.take(20))
  assert.ok(!second.take(11), 'a body and another call have the rest')
  assert.ok(other.take(100))
  first.release()
  first.release()
  assert.equal(memory.bytes, 130)
  assert.ok(second.take(70))
  second.release()
  other.release()
  assert.equal(memory.bytes, 30)
})

test('all customers together have no more than the node gives', () => {
  const memory = createByteBudget({ ownBytesMax: 100, bytesMax: 150 })
  assert.ok(createKeptBytes(memory, 'c:one').take(100))
  assert.ok(!createKeptBytes(memory, 'c:other').take(51))
})
