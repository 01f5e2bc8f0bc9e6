// deep: generated conversations
/** Conversations in the Messages format, translated and sent to an upstream that speaks it: they arrive as they came. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { toChatBody } from '../../src/gateway/calls/chat/formats/messages/to-chat-body.ts'
import { effort } from '../harness/effort.ts'
import fc from '../harness/fast-check.ts'
import { conversation, type Conversation } from '../harness/generate-messages-conversation.ts'
import { startFixtureServer, type FixtureServer } from './fixture-server.ts'
import { ANTHROPIC, complete } from './test-provider.ts'

let server: FixtureServer
before(async () => {
  server = await startFixtureServer()
})
beforeEach(() => {
  server.requests.length = 0
})
after(() => server.close())

/** The blocks of a conversation, each with its role. The texts of a tool's result are one text upstream. */
function blocksOf(one: Pick<Conversation, 'messages'>): unknown[] {
  return one.messages.flatMap(({ role, content }) =>
    content.map((block) => {
      const { type, content: inner } = block
      if (type !== 'tool_result' || !Array.isArray(inner)) return [role, block]
      return [role, { ...block, content: inner.map(({ text }) => text as string).join('\n') }]
    }),
  )
}

test('system texts, thinking, signatures, calls and images reach Anthropic byte for byte', async () => {
  const provider = ANTHROPIC.open(server.url)
  await fc.assert(
    fc.asyncProperty(conversation, async (one) => {
      const request = { model: ANTHROPIC.model, max_tokens: 100, ...structuredClone(one) }
      const { failure } = await complete(provider, { body: toChatBody(request) })
      assert.equal(failure, undefined)
      const sent = server.requests.at(-1)?.body
      assert.deepEqual(sent.system ?? [], one.system)
      assert.deepEqual(blocksOf(sent), blocksOf(one))
    }),
    { numRuns: effort({ ordinary: 30, full: 1_000 }) },
  )
  await provider.close()
})
