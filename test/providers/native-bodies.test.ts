// deep: generated requests
/** A native body is written once for its measurement and all attempts: it equals the one that is written for each. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChatContent, JsonObject } from '../../src/gateway/providers/contract.ts'
import { writeNativeMessages } from '../../src/gateway/providers/ai-sdk/native-messages/write-native-messages.ts'
import { writeNativeResponse } from '../../src/gateway/providers/openai-compatible/native-responses/write-native-response.ts'
import { effort } from '../harness/effort.ts'
import fc from '../harness/fast-check.ts'
import { openChatFormats } from './chat-formats.ts'
import { conversation, requestOf } from './conversation-formats.ts'

const formats = openChatFormats()

/** What differs between measurements and attempts of a request. */
const attempt = fc.record({
  model: fc.constantFrom('claude-sonnet-4-5', 'claude-opus-4-5'),
  outputTokensMax: fc.integer({ min: 16, max: 8_000 }),
  webSearchesMax: fc.integer({ min: 0, max: 2 }),
  cachesForAnHour: fc.boolean(),
})
const fields = fc.record({
  stream: fc.boolean(),
  thinking: fc.constantFrom(undefined, { type: 'enabled', budget_tokens: 2_000 }),
  reasoning: fc.constantFrom(undefined, { effort: 'low' }),
  context_management: fc.constantFrom(undefined, {
    edits: [{ type: 'clear_thinking_20251015', keep: 'all' }],
  }),
})

const SEARCH = { type: 'web_search_20250305', name: 'web_search' }
const FLAGS = ['context-management-2025-06-27']

function written(
  client: 'messages' | 'responses',
  content: ChatContent,
): readonly [JsonObject, number] {
  if (client === 'responses') {
    const { text, bytes } = writeNativeResponse(content, 'default')
    return [JSON.parse(text), bytes]
  }
  const native = writeNativeMessages(content, 'anthropic', content.model)
  assert.ok(native)
  const head = { model: content.model, max_tokens: content.outputTokensMax }
  return [JSON.parse(native.write(head)), native.measure(head)]
}

for (const client of ['messages', 'responses'] as const)
  test(`${client}: each attempt sends, and is measured as, what it would send alone`, () => {
    fc.assert(
      fc.property(
        conversation,
        fields,
        fc.array(attempt, { minLength: 1, maxLength: 5 }),
        (one, more, attempts) => {
          const tools = [client === 'messages' ? SEARCH : { type: 'web_search' }]
          const body = {
            ...requestOf(client, one, formats.marks),
            ...more,
            max_tokens: 8_000,
            tools,
          }
          const request = formats.read(client, body)
          const native = request.native && { ...request.native, flags: FLAGS }
          // One memo and one native body for all.
          for (const each of attempts) {
            const content = { ...request, native, ...each }
            assert.deepEqual(written(client, content), written(client, { ...content, memo: {} }))
          }
        },
      ),
      { numRuns: effort({ ordinary: 200, full: 2_000 }) },
    )
  })
