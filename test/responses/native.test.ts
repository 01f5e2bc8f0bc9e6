/** Answers that came in the Responses format: shown as they are, with our ids and the client's names. */
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createReasoningSeals } from '../../src/gateway/calls/chat/formats/responses/reasoning-seal.ts'
import {
  createResponsesFormat,
  type ResponsesRequest,
} from '../../src/gateway/calls/chat/formats/responses/responses-format.ts'
import { createToolCallIds } from '../../src/gateway/calls/chat/tool-call-ids.ts'
import { isRefusal, refusals } from '../../src/gateway/calls/refusal.ts'
import type { JsonObject } from '../../src/gateway/providers/contract.ts'
import fc, { anyGrapheme } from '../harness/fast-check.ts'
import { assertResponse, assertStreamIsWhole, responseEvents } from './assert-response.ts'

const CHARGED = {
  promptTokens: 20,
  cachedTokens: 5,
  cacheWriteTokens: 3,
  completionTokens: 9,
  reasoningTokens: 4,
  billedNanoBrl: 1_234_567n,
}
const ids = createToolCallIds([randomBytes(32)])
const CUSTOMER = 'a customer'
const seals = createReasoningSeals({ sealingKey: randomBytes(32) })
const format = createResponsesFormat(seals, ids)
const TOOLS = [
  { type: 'function', name: 'look', parameters: {}, strict: false },
  { type: 'custom', name: 'patch' },
  {
    type: 'namespace',
    name: 'docs',
    description: 'd',
    tools: [{ type: 'function', name: 'find', parameters: {}, strict: false }],
  },
]

function read(body: object): ResponsesRequest {
  const request = format.readRequest(Buffer.from(JSON.stringify({ model: 'm', ...body })), {
    customerId: CUSTOMER,
  })
  if (isRefusal(request)) assert.fail(request.message)
  return request
}

const open = (request = read({ input: 'a', tools: TOOLS })) =>
  format.createWriter({ id: randomUUID(), modelId: 'a-model', request })

const text = fc.string({ unit: anyGrapheme, minLength: 1, maxLength: 20 })
const callId = fc.stringMatching(/^call_[0-9a-zA-Z]{24}$/)
const item: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({
    type: fc.constant('reasoning'),
    summary: fc.array(
      text.map((said) => ({ type: 'summary_text', text: said })),
      { maxLength: 2 },
    ),
    encrypted_content: text,
  }),
  fc
    .array(
      fc.oneof(
        text.map((said) => ({ type: 'output_text', text: said, annotations: [], logprobs: [] })),
        text.map((refusal) => ({ type: 'refusal', refusal })),
      ),
      { minLength: 1, maxLength: 2 },
    )
    .map((content) => ({ type: 'message', role: 'assistant', status: 'completed', content })),
  fc.record({
    type: fc.constant('function_call'),
    call_id: callId,
    name: fc.constantFrom('look', 'docs__find'),
    arguments: fc.constant('{"a":1}'),
    status: fc.constant('completed'),
  }),
  fc.record({
    type: fc.constant('custom_tool_call'),
    call_id: callId,
    name: fc.constant('patch'),
    input: text,
    status: fc.constant('completed'),
  }),
)

/** The upstream's own answer, with what must stay hidden. */
function answerOf(items: readonly JsonObject[]) {
  const output = items.map((one, index) => ({ ...one, id: `item_of_upstream_${index}` }))
  return {
    id: 'resp_of_upstream',
    status: 'completed',
    model: 'name-at-upstream',
    output,
    service_tier: 'scale',
    billing: { payer: 'of_upstream' },
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  }
}

function eventsOf({ output, ...response }: ReturnType<typeof answerOf>): JsonObject[] {
  const events: JsonObject[] = [
    { type: 'response.created', response: { ...response, output: [], status: 'in_progress' } },
  ]
  for (const [index, item] of output.entries()) {
    const { content, summary, arguments: args, input, ...opened } = item as JsonObject
    const at = { item_id: item.id, output_index: index }
    const begun = {
      ...opened,
      ...(content ? { content: [] } : {}),
      ...(summary ? { summary: [] } : {}),
      ...(args === undefined ? {} : { arguments: '' }),
      ...(input === undefined ? {} : { input: '' }),
      ...(opened.status === undefined ? {} : { status: 'in_progress' }),
    }
    events.push({ type: 'response.output_item.added', output_index: index, item: begun })
    for (const [place, part] of ((content ?? summary ?? []) as JsonObject[]).entries()) {
      const where = content ? { content_index: place } : { summary_index: place }
      const kind = content ? 'content_part' : 'reasoning_summary_part'
      const field = part.type === 'refusal' ? 'refusal' : 'text'
      const name = content ? part.type : 'reasoning_summary_text'
      events.push(
        { type: `response.${kind}.added`, ...at, ...where, part: { ...part, [field]: '' } },
        {
          type: `response.${String(name)}.delta`,
          ...at,
          ...where,
          delta: part[field],
          obfuscation: 'x',
        },
        { type: `response.${String(name)}.done`, ...at, ...where, [field]: part[field] },
        { type: `response.${kind}.done`, ...at, ...where, part },
      )
    }
    if (args !== undefined)
      events.push(
        { type: 'response.function_call_arguments.delta', ...at, delta: args },
        {
          type: 'response.function_call_arguments.done',
          ...at,
          name: (item as JsonObject).name,
          arguments: args,
        },
      )
    if (input !== undefined)
      events.push(
        { type: 'response.custom_tool_call_input.delta', ...at, delta: input },
        { type: 'response.custom_tool_call_input.done', ...at, input },
      )
    events.push({ type: 'response.output_item.done', output_index: index, item })
  }
  return [...events, { type: 'response.completed', response: { ...response, output } }]
}

const bare = (items: unknown): JsonObject[] =>
  (items as JsonObject[]).map(({ id: _id, ...item }) => item)

test('the items of an answer come as they are, plain and streamed, and name no upstream', () => {
  fc.assert(
    fc.property(fc.array(item, { maxLength: 4 }), (items) => {
      const answer = structuredClone(answerOf(items))
      const expected = (JSON.parse(JSON.stringify(items)) as JsonObject[]).map((one) => {
        if (typeof one.call_id !== 'string') return one
        const named = one.name === 'docs__find' ? { name: 'find', namespace: 'docs' } : {}
        return { ...one, call_id: ids.hidden(one.call_id), ...named }
      })
      const plain = open().answer({ choices: [] }, CHARGED, answer)
      const response = JSON.parse(plain) as JsonObject
      assertResponse(response)
      assert.deepEqual(bare(response.output), expected)

      const writer = open()
      let streamed = ''
      for (const event of eventsOf(answer)) streamed += writer.chunk({ choices: [] }, [event]) ?? ''
      // The end waits for the charge.
      assert.ok(!streamed.includes('response.completed'))
      streamed += writer.end(CHARGED)
      const reported = assertStreamIsWhole(responseEvents(streamed))
      assert.deepEqual(bare(reported.output), expected)
      assert.equal((reported.usage as JsonObject).total_tokens, 29)
      for (const shown of [plain, streamed])
        assert.doesNotMatch(shown, /of_upstream|name-at-upstream|scale|obfuscation/)
    }),
  )
})

test('a native stream that breaks ends with response.failed, also if its end was already written', () => {
  const answer = answerOf([
    {
      type: 'function_call',
      call_id: 'call_1',
      name: 'look',
      arguments: '{}',
      status: 'completed',
    },
  ])
  for (const hasEnded of [false, true]) {
    const writer = open()
    const events = eventsOf(answer)
    const begun = writer.chunk({ choices: [] }, hasEnded ? events : events.slice(0, 3)) ?? ''
    if (hasEnded) writer.end(CHARGED)
    const reported = responseEvents(begun + writer.broken(refusals.streamBroken()))
    assert.equal(reported.at(-1)?.type, 'response.failed')
    assert.deepEqual(
      reported.map(({ sequence_number: number }) => number),
      reported.map((_event, index) => index),
    )
  }
})

test('what only the translation can say is not in the native body', () => {
  const kept = { fields: { reasoning: 'x' }, calls: {} }
  const sealed = seals(CUSTOMER).seal(kept, ['m'])
  const ofOther = seals(CUSTOMER).seal(kept, ['another'])
  const ofOtherCustomer = seals('another customer').seal(kept, ['m'])
  const own = 'call_0123456789abcdefABCDEF01'
  const request = read({
    input: [
      { role: 'user', content: 'a' },
      { type: 'reasoning', summary: [], encrypted_content: sealed },
      { type: 'reasoning', summary: [], encrypted_content: ofOther },
      { type: 'reasoning', summary: [], encrypted_content: ofOtherCustomer },
      { type: 'reasoning', summary: [], encrypted_content: 'gAAAA+/=' },
      { type: 'function_call', call_id: ids.hidden(own), name: 'find', namespace: 'docs' },
    ],
    tools: TOOLS,
  })
  assert.deepEqual(request.native?.body.input, [
    { role: 'user', content: 'a' },
    { type: 'reasoning', summary: [], encrypted_content: 'gAAAA+/=' },
    { type: 'function_call', call_id: own, name: 'docs__find', namespace: 'docs' },
  ])
  assert.deepEqual(
    (request.native.body.tools as JsonObject[]).map(({ name }) => name),
    ['look', 'patch', 'docs__find'],
  )
})

test('calls of the tools that the client runs come as the items of the format, plain and streamed', () => {
  const request = read({ input: 'a', tools: [{ type: 'shell' }, ...TOOLS] })
  const [described] = (request.native?.body.tools ?? []) as JsonObject[]
  assert.deepEqual([described?.type, described?.name], ['function', 'shell'])
  const args = '{"commands":["ls"]}'
  const item = { type: 'function_call', call_id: 'call_1', name: 'shell', arguments: args }
  const shown = (one: JsonObject): unknown => {
    const { id, call_id: callId, ...rest } = one
    assert.match(String(id), /^sh_/)
    assert.equal(ids.revealed(callId as string), 'call_1')
    return rest
  }
  const call = {
    type: 'shell_call',
    action: { commands: ['ls'], timeout_ms: null, max_output_length: null },
    environment: { type: 'local' },
    status: 'completed',
  }
  const answer = { status: 'completed', output: [{ ...item, status: 'completed' }] }
  const plain = JSON.parse(open(request).answer({}, CHARGED, answer)) as { output: JsonObject[] }
  assert.deepEqual(plain.output.map(shown), [call])

  const writer = open(request)
  const at = { output_index: 0, item_id: 'fc_up' }
  const begun = { ...item, arguments: '', status: 'in_progress' }
  const native = [
    { type: 'response.output_item.added', output_index: 0, item: begun },
    { type: 'response.function_call_arguments.delta', ...at, delta: args },
    { type: 'response.function_call_arguments.done', ...at, name: 'shell', arguments: args },
    { type: 'response.output_item.done', output_index: 0, item: { ...item, status: 'completed' } },
    { type: 'response.completed', response: answer },
  ]
  const written = (writer.chunk({}, native) ?? '') + writer.end(CHARGED)
  const events = written
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice('data: '.length)) as JsonObject)
  assert.deepEqual(
    events.map(({ type }) => type),
    [
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.output_item.done',
      'response.completed',
    ],
  )
  assert.deepEqual(shown(events[3]?.item as JsonObject), call)
})
