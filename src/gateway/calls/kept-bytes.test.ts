import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createByteBudget } from '../../platform/lib/byte-budget.ts'
import { beyond } from '../../platform/lib/take-bytes.ts'
import { createKeptBytes } from './kept-bytes.ts'

const atOnce = { wait: () => undefined }

test('files of the calls of one customer share its bytes with bodies, and go back at the end of the call', () => {
  const memory = createByteBudget({ ownBytesMax: 100, bytesMax: 1_000 })
  const deps = { bodies: memory, pace: atOnce }
  memory.add('c:one', 30)
  const [first, second] = [createKeptBytes(deps, 'one'), createKeptBytes(deps, 'one')]
  const other = createKeptBytes(deps, 'other')
  assert.ok(first.take(40) && first.take(20))
  assert.equal(second.take(11), false, 'a body and another call have the rest')
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
  const deps = { bodies: createByteBudget({ ownBytesMax: 100, bytesMax: 150 }), pace: atOnce }
  assert.ok(createKeptBytes(deps, 'one').take(100))
  assert.equal(createKeptBytes(deps, 'other').take(51), false)
})

test("bytes of a call arrive at its customer's pace; refused ones do not wait", async () => {
  const memory = createByteBudget({ ownBytesMax: 100, bytesMax: 1_000 })
  const asked: unknown[] = []
  let goOn = (): void => {}
  const pace = {
    wait(subject: string, bytes: number) {
      asked.push([subject, bytes])
      return new Promise<void>((resolve) => (goOn = resolve))
    },
  }
  const kept = createKeptBytes({ bodies: memory, pace }, 'one')
  const taken = kept.take(60)
  assert.ok(taken instanceof Promise)
  assert.equal(kept.take(41), false)
  goOn()
  assert.equal(await taken, true)
  assert.deepEqual(asked, [['one', 60]])
})

test('only bytes after the free ones are taken', () => {
  const taken: number[] = []
  const take = beyond(10, (bytes) => taken.push(bytes) > 0)
  assert.ok(take(4) && take(5) && take(5) && take(3))
  assert.deepEqual(taken, [4, 3])
})
