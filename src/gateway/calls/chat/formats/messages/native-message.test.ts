import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { accumulateMessage } from '../../../../../../test/harness/accumulate-message.ts'
import fc, { anyCharacter } from '../../../../../../test/harness/fast-check.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import { isRefusal } from '../../../refusal.ts'
import type { Charged } from '../../chat-format.ts'
import { createToolCallIds } from '../../tool-call-ids.ts'
import { createReasoningSeals } from '../responses/reasoning-seal.ts'
import { createMessagesFormat } from './messages-format.ts'

const sealingKey = randomBytes(32)
const ids = createToolCallIds([sealingKey])
const format = createMessagesFormat(ids, createReasoningSeals({ sealingKey }))
const CHARGED: Charged = {
  promptTokens: 100,
  cachedTokens: 30,
  cacheWriteTokens: 20,
  completionTokens: 7,
  reasoningTokens: 3,
  units: '{"cache_write_1h_tokens":15}',
  billedNanoBrl: 1_234_567_890_123n,
}
const USAGE = {
  input_tokens: 50,
  cache_creation_input_tokens: 20,
  cache_read_input_tokens: 30,
  cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 15 },
  output_tokens: 7,
}

function read(body: JsonObject, flags?: string[]) {
  const request = format.readRequest(
    Buffer.from(JSON.stringify(body)),
    { customerId: 'a customer' },
    flags,
  )
  if (isRefusal(request)) assert.fail(request.message)
  return request
}

function open() {
  const request = read({ model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'a' }] })
  return format.createWriter({ id: 'own', modelId: 'a-model', request })
}

const text = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 30 })
const block: fc.Arbitrary<JsonObject & { type: string }> = fc.oneof(
  fc.record({ type: fc.constant('text'), text }),
  fc.record({ type: fc.constant('thinking'), thinking: text, signature: text }),
  fc.record({ type: fc.constant('redacted_thinking'), data: text }),
  fc.record({
    type: fc.constant('tool_use'),
    id: fc.stringMatching(/^toolu_bdrk_[0-9A-Za-z]{24}$/),
    name: text,
    input: fc.constant({ a: 1 }),
  }),
)

/** The upstream's own answer, with what must stay hidden. */
const answerOf = (content: readonly JsonObject[]): JsonObject => ({
  id: 'msg_of_upstream',
  type: 'message',
  role: 'assistant',
  model: 'name-at-upstream',
  content: content.map((one) => ({ ...one, caller: { type: 'direct' }, citations: null })),
  stop_reason: 'pause_turn',
  stop_sequence: null,
  container: { id: 'container_of_upstream' },
  usage: { input_tokens: 9, output_tokens: 9, service_tier: 'standard', inference_geo: 'us' },
})

function eventsOf(answer: JsonObject): JsonObject[] {
  const { content, stop_reason, stop_sequence, container, usage, ...rest } = answer
  const events: JsonObject[] = [
    {
      type: 'message_start',
      message: { ...rest, content: [], stop_reason: null, usage, container },
    },
    { type: 'ping' },
  ]
  for (const [index, block] of (content as JsonObject[]).entries()) {
    const { text, thinking, signature, input, ...opened } = block
    const begin: JsonObject = { ...opened }
    const deltas: JsonObject[] = []
    if (text !== undefined) {
      begin.text = ''
      deltas.push({ type: 'text_delta', text })
    }
    if (thinking !== undefined) {
      Object.assign(begin, { thinking: '', signature: '' })
      deltas.push({ type: 'thinking_delta', thinking }, { type: 'signature_delta', signature })
    }
    if (input !== undefined) {
      begin.input = {}
      deltas.push({ type: 'input_json_delta', partial_json: JSON.stringify(input) })
    }
    events.push({ type: 'content_block_start', index, content_block: begin })
    for (const delta of deltas) events.push({ type: 'content_block_delta', index, delta })
    events.push({ type: 'content_block_stop', index })
  }
  const delta = { stop_reason, stop_sequence, container }
  return [...events, { type: 'message_delta', delta, usage }, { type: 'message_stop' }]
}

test('the blocks of an answer come as they are, plain and streamed, and name no upstream', () => {
  fc.assert(
    fc.property(fc.array(block, { maxLength: 5 }), (content) => {
      const answer = answerOf(content)
      const shown = (JSON.parse(JSON.stringify(content)) as typeof content).map((one) =>
        one.type === 'tool_use' ? { ...one, id: ids.hidden(String(one.id)) } : one,
      )
      const expected = {
        id: 'msg_own',
        type: 'message',
        role: 'assistant',
        model: 'a-model',
        content: shown,
        stop_reason: 'pause_turn',
        stop_sequence: null,
        usage: USAGE,
        cost_billed_brl: 1_234.567890123,
      }
      const plain = open().answer({ choices: [] }, CHARGED, structuredClone(answer))
      assert.deepEqual(JSON.parse(plain), expected)

      const writer = open()
      let streamed = ''
      for (const event of eventsOf(answer))
        streamed += writer.chunk({ choices: [] }, [structuredClone(event)]) ?? ''
      // The end waits for the charge.
      assert.ok(!streamed.includes('message_delta') && !streamed.includes('message_stop'))
      streamed += writer.end(CHARGED)
      const { message, error } = accumulateMessage(streamed)
      assert.equal(error, undefined)
      assert.deepEqual(message, expected)
      for (const shown of [plain, streamed])
        assert.doesNotMatch(shown, /toolu_bdrk|name-at-upstream|of_upstream|standard|inference_geo/)
    }),
  )
})

test('a native stream that breaks ends with the error of the format', () => {
  const writer = open()
  const events = eventsOf(answerOf([{ type: 'text', text: 'a' }]))
  const begun = writer.chunk({ choices: [] }, events.slice(0, 4)) ?? ''
  const refused = { status: 502, code: 'upstream_error', message: 'm' } as const
  const { error } = accumulateMessage(begun + writer.broken(refused as never))
  assert.equal(error.type, 'error')
})

test('the ids of tool calls are the upstream’s again in both forms of a request', () => {
  const id = 'toolu_bdrk_0123456789abcdefABCDEF01'
  const request = read({
    model: 'm',
    max_tokens: 5,
    messages: [
      { role: 'user', content: 'a' },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: ids.hidden(id), name: 'look', input: {} }],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: ids.hidden(id), content: 'r' }],
      },
    ],
  })
  assert.equal(JSON.stringify(request.body).split(id).length, 3)
  assert.equal(JSON.stringify(request.native).split(id).length, 3)
})

test('an hour is asked for wherever a mark may stand, and flags come along', () => {
  const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } }
  const messages = [{ role: 'user', content: 'a' }]
  for (const fields of [
    { ...hour, messages },
    { messages, tools: [{ name: 't', input_schema: {}, ...hour }] },
    { messages, system: [{ type: 'text', text: 's', ...hour }] },
    {
      messages: [
        ...messages,
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'n', ...hour }] },
      ],
    },
  ]) {
    const request = read({ model: 'm', max_tokens: 5, ...fields }, ['a-flag'])
    assert.equal(request.cachesForAnHour, true)
    assert.deepEqual(request.native?.flags, ['a-flag'])
  }
  assert.equal(read({ model: 'm', max_tokens: 5, messages }).cachesForAnHour, false)
})

test('a stop reason of an upstream’s own is `end_turn`, plain and streamed', () => {
  for (const reason of ['EvilCorp_stop', 'constructor', 7, { by: 'EvilCorp' }]) {
    const answer = { ...answerOf([]), stop_reason: reason }
    const plain = JSON.parse(open().answer({ choices: [] }, CHARGED, answer))
    assert.equal(plain.stop_reason, 'end_turn')
    const writer = open()
    const begun = writer.chunk({ choices: [] }, eventsOf(answer)) ?? ''
    assert.equal(accumulateMessage(begun + writer.end(CHARGED)).message.stop_reason, 'end_turn')
  }
})
