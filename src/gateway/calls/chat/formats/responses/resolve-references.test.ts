import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../../providers/contract.ts'
import { TOO_MANY_VALUES } from '../../../read-request.ts'
import { refusals } from '../../../refusal.ts'
import { resolveReferences } from './resolve-references.ts'
import type { ReadingRoom } from './stored-conversation.ts'

const CALL_ID = '00000000-0000-7000-8000-000000000000'
const ID = `msg_${CALL_ID.replaceAll('-', '')}0`
const BYTES_MAX = 1024 * 1024
const TOO_LARGE = refusals.conversationTooLarge(BYTES_MAX)

/** Refers to the item so many times; the bytes are those that were taken for the repetitions. */
async function resolve(item: JsonObject, times: number) {
  let bytes = 0
  const room: ReadingRoom = {
    reader: { customerId: 'a customer', keyId: null, seesAccount: true },
    bytes: () => bytes,
    async take(more) {
      if (bytes + more > BYTES_MAX) return TOO_LARGE
      bytes += more
      return undefined
    },
    [Symbol.dispose]() {},
  }
  const readOutputs = async () => [{ callId: CALL_ID, input: [], output: [item] }]
  const references = Array.from({ length: times }, () => ({ type: 'item_reference', id: ID }))
  return { items: await resolveReferences({ readOutputs }, room, references), bytes }
}

test('each repetition of a stored item takes its bytes, as it will be written', async () => {
  const item = { id: ID, text: 'ação' }
  const bytesOfItem = Buffer.byteLength(JSON.stringify(item))
  assert.deepEqual(await resolve(item, 1), { items: [item], bytes: 0 })
  assert.deepEqual(await resolve(item, 4), {
    items: [item, item, item, item],
    bytes: 3 * bytesOfItem,
  })
  const large = { id: ID, text: 'a'.repeat(BYTES_MAX / 2) }
  assert.deepEqual(await resolve(large, 3), { items: TOO_LARGE, bytes: 0 })
})

test('the values of a stored item count as often as it is repeated', async () => {
  const item = { id: ID, content: Array.from({ length: 20_000 }, () => []) }
  const { items: few } = await resolve(item, 5)
  assert.ok(Array.isArray(few) && few.length === 5)
  const { items: many } = await resolve(item, 7)
  assert.ok(many === TOO_MANY_VALUES)
})
