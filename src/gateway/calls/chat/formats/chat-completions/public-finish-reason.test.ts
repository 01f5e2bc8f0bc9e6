import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Charged } from '../../chat-format.ts'
import { isRefusal } from '../../../refusal.ts'
import { createChatCompletionsFormat } from './chat-completions-format.ts'

const ids = {
  hide: () => undefined,
  reveal: () => undefined,
  hidden: (id: string) => id,
  revealed: (id: unknown) => id,
}
const CHARGED: Charged = {
  promptTokens: 1,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  completionTokens: 1,
  reasoningTokens: 0,
  billedNanoBrl: 1n,
}

/** As a client reads it, of a plain answer and of a chunk. */
function shown(reason: unknown): unknown[] {
  const format = createChatCompletionsFormat(ids, () => assert.fail('a chat, not a response'))
  const body = { model: 'm', messages: [{ role: 'user', content: 'Olá' }] }
  const request = format.readRequest(Buffer.from(JSON.stringify(body)), {
    customerId: 'a customer',
  })
  if (isRefusal(request)) assert.fail(request.message)
  const writer = format.createWriter({ id: 'x', modelId: 'm', request })
  const choice = { index: 0, finish_reason: reason }
  const plain = writer.answer({ choices: [{ ...choice, message: { content: 'a' } }] }, CHARGED)
  const chunk = writer.chunk({ choices: [{ ...choice, delta: { content: 'a' } }] }) ?? ''
  return [plain, chunk.slice('data: '.length)].map(
    (json) => JSON.parse(json).choices[0].finish_reason,
  )
}

test('a finish reason of an upstream’s own is `stop`, and the known ones stay', () => {
  for (const known of ['stop', 'length', 'tool_calls', 'content_filter', 'function_call'])
    assert.deepEqual(shown(known), [known, known])
  for (const own of ['EvilCorp_stop', 'constructor', { by: 'EvilCorp' }, 7])
    assert.deepEqual(shown(own), ['stop', 'stop'])
})

test('a choice that goes on has no finish reason', () => {
  for (const none of [null, '', false]) assert.deepEqual(shown(none), [null, null])
  assert.deepEqual(shown(undefined), [undefined, undefined])
})
