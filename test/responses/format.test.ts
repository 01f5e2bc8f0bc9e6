/** The translation of the Responses format: from requests to chats, and from answers to responses and their events. */
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createReasoningSeals } from '../../src/gateway/calls/chat/formats/responses/reasoning-seal.ts'
import {
  createResponsesFormat,
  type ResponsesRequest,
} from '../../src/gateway/calls/chat/formats/responses/responses-format.ts'
import type { ToolCallIds } from '../../src/gateway/calls/chat/tool-call-ids.ts'
import { isRefusal, refusals } from '../../src/gateway/calls/refusal.ts'
import type { JsonObject } from '../../src/gateway/providers/contract.ts'
import fc, { anyGrapheme } from '../harness/fast-check.ts'
import {
  assertResponse,
  assertStreamIsWhole,
  responseEvents,
  type StreamEvent,
} from './assert-response.ts'

const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const MODEL = 'sandbox-chat'
const CHARGED = {
  promptTokens: 20,
  cachedTokens: 5,
  cacheWriteTokens: 3,
  completionTokens: 9,
  reasoningTokens: 4,
  billedNanoBrl: 1_234_567n,
}

const CUSTOMER = 'a customer'
const keys = { sealingKey: randomBytes(32) }
/** Ids that are not hidden. */
const ids: ToolCallIds = {
  hide: () => undefined,
  reveal: () => undefined,
  hidden: (id) => id,
  revealed: (id) => id,
}
const format = createResponsesFormat(createReasoningSeals(keys), ids)

function read(body: object): ResponsesRequest {
  const request = format.readRequest(Buffer.from(JSON.stringify({ model: MODEL, ...body })), {
    customerId: CUSTOMER,
  })
  if (isRefusal(request)) assert.fail(request.message)
  return request
}

function refusalOf(body: object): string {
  const refused = format.readRequest(Buffer.from(JSON.stringify({ model: MODEL, ...body })), {
    customerId: CUSTOMER,
  })
  assert.ok(isRefusal(refused), 'the request is refused')
  assert.equal(refused.status, 400)
  return refused.message
}

function writerOf(request: ResponsesRequest) {
  return format.createWriter({ id: randomUUID(), modelId: MODEL, request })
}

function answerOf(message: object, finishReason = 'stop', request = read({ input: 'Olá' })) {
  const body = { choices: [{ index: 0, message, finish_reason: finishReason }] }
  const response = JSON.parse(writerOf(request).answer(body, CHARGED)) as JsonObject
  assertResponse(response)
  return response as JsonObject & { output: JsonObject[] }
}

function streamOf(
  deltas: readonly JsonObject[],
  finishReason = 'stop',
  request = read({ input: 'Olá' }),
): StreamEvent[] {
  const writer = writerOf(request)
  const chunks = deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] }))
  const last = { choices: [{ index: 0, delta: {}, finish_reason: finishReason }] }
  const texts = [...chunks, last].map((chunk) => writer.chunk(chunk) ?? '')
  return responseEvents(texts.join('') + writer.end(CHARGED))
}

/** The output without what differs from call to call. */
function bare(output: unknown): unknown {
  return (output as JsonObject[]).map(({ id: _id, encrypted_content: sealed, ...item }) => ({
    ...item,
    isSealed: typeof sealed === 'string',
  }))
}

const text = fc.string({ unit: anyGrapheme, minLength: 1, maxLength: 20 })
const name = fc.stringMatching(/^[a-zA-Z0-9_-]{1,20}$/)

const part = fc.oneof(
  text.map((said) => ({ type: 'text', text: said })),
  fc.constant({ type: 'image_url', image_url: { url: PNG } }),
)
const reasoning = fc.record({
  reasoning_details: fc.array(
    fc.oneof(
      fc.record({ type: fc.constant('reasoning.text'), text, signature: text }),
      fc.record({ type: fc.constant('reasoning.encrypted'), data: text }),
    ),
    { minLength: 1, maxLength: 2 },
  ),
})
const call = fc.record({ name, args: fc.dictionary(text, fc.jsonValue()), result: text })
const turn = fc.record({
  asked: fc.array(part, { minLength: 2, maxLength: 3 }),
  said: text,
  reasoning: fc.option(reasoning, { nil: undefined }),
  calls: fc.array(call, { maxLength: 3 }),
})

/** A chat as it is inside, ending with a message of the user. */
const chat = fc.array(turn, { minLength: 1, maxLength: 4 }).map((turns) => {
  const messages = turns.flatMap(({ asked, said, reasoning, calls }, index): JsonObject[] => [
    { role: 'user', content: asked },
    {
      role: 'assistant',
      content: said,
      ...(calls.length === 0
        ? {}
        : {
            tool_calls: calls.map(({ name, args }, position) => ({
              id: `call_${index}_${position}`,
              type: 'function',
              function: { name, arguments: JSON.stringify(args) },
            })),
          }),
      ...reasoning,
    },
    ...calls.map(({ result }, position) => ({
      role: 'tool',
      tool_call_id: `call_${index}_${position}`,
      content: result,
    })),
  ])
  return JSON.parse(
    JSON.stringify([
      { role: 'system', content: 'Seja breve.' },
      ...messages,
      { role: 'user', content: 'E?' },
    ]),
  ) as JsonObject[]
})

/** The items that a client sends back: its own, and the output of responses as it was. */
function itemsOf(messages: readonly JsonObject[]): JsonObject[] {
  return messages.flatMap((message): JsonObject[] => {
    const { role, content } = message
    if (role === 'assistant') return answerOf(message).output
    if (role === 'tool')
      return [{ type: 'function_call_output', call_id: message.tool_call_id, output: content }]
    const parts = typeof content === 'string' ? content : (content as JsonObject[]).map(toInputPart)
    return [{ type: 'message', role, content: parts }]
  })
}

function toInputPart({ type, text: said, image_url: image }: JsonObject): JsonObject {
  return type === 'text'
    ? { type: 'input_text', text: said }
    : { type: 'input_image', image_url: (image as JsonObject).url }
}

test('a conversation of any turns round trips: roles, order, ids of calls, images, signed reasoning', () => {
  fc.assert(
    fc.property(chat, (messages) => {
      const { messages: back } = read({ input: itemsOf(messages) })
      assert.deepEqual(JSON.parse(JSON.stringify(back)), messages)
    }),
  )
})

/** Cuts a text into pieces at these places. */
function cut(whole: string, places: readonly number[]): string[] {
  const ends = [...new Set(places.map((place) => place % (whole.length + 1)))].toSorted(
    (a, b) => a - b,
  )
  return [...ends, whole.length].map((end, index) =>
    whole.slice(index === 0 ? 0 : ends[index - 1], end),
  )
}

const places = fc.array(fc.nat(), { maxLength: 6 })
const message = fc.record({
  reasoning_content: fc.option(text, { nil: undefined }),
  content: fc.option(text, { nil: undefined }),
  refusal: fc.option(text, { nil: undefined }),
  calls: fc.array(
    fc.record({ name: fc.constantFrom('clima', 'editar', 'fila__ver'), input: text }),
    {
      maxLength: 3,
    },
  ),
})

const TOOLS = [
  { type: 'function', name: 'clima', parameters: { type: 'object', properties: {} } },
  { type: 'custom', name: 'editar' },
  { type: 'namespace', name: 'fila', description: '', tools: [{ type: 'function', name: 'ver' }] },
  { type: 'web_search' },
]

test('a stream that is cut into any chunks tells the same response as the plain answer', () => {
  fc.assert(
    fc.property(message, places, fc.constantFrom('stop', 'length'), (made, cuts, finish) => {
      const { calls, ...texts } = made
      const toolCalls = calls.map(({ name, input }, index) => ({
        id: `call_${index}`,
        type: 'function',
        function: { name, arguments: JSON.stringify({ input }) },
      }))
      const request = read({ input: 'Olá', tools: TOOLS })
      const whole = { ...texts, ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}) }
      const plain = answerOf(JSON.parse(JSON.stringify(whole)), finish, request)
      const deltas = [
        ...(['reasoning_content', 'content', 'refusal'] as const).flatMap((field) =>
          cut(texts[field] ?? '', cuts).map((piece) => ({ [field]: piece })),
        ),
        ...toolCalls.flatMap((one, index) => {
          const [first, ...rest] = cut(one.function.arguments, cuts)
          const begun = { ...one, index, function: { ...one.function, arguments: first } }
          const more = rest.map((piece) => ({ index, function: { arguments: piece } }))
          return [begun, ...more].map((delta) => ({ tool_calls: [delta] }))
        }),
      ]
      const streamed = assertStreamIsWhole(streamOf(deltas, finish, request))
      assert.deepEqual(bare(streamed.output), bare(plain.output))
      for (const field of ['status', 'usage', 'incomplete_details', 'tools', 'cost_billed_brl'])
        assert.deepEqual(streamed[field], plain[field], field)
    }),
  )
})

test('calls whose deltas alternate keep their own arguments', () => {
  const delta = (index: number, piece: string, more: object = {}): JsonObject => ({
    tool_calls: [{ index, ...more, function: { name: 'clima', arguments: piece } }],
  })
  const events = streamOf([
    delta(0, '{"a"', { id: 'call_a' }),
    delta(1, '{"b"', { id: 'call_b' }),
    delta(0, ':1}'),
    delta(1, ':2}'),
  ])
  const { output } = assertStreamIsWhole(events)
  assert.deepEqual(
    (output as JsonObject[]).map((item) => [item.call_id, item.arguments]),
    [
      ['call_a', '{"a":1}'],
      ['call_b', '{"b":2}'],
    ],
  )
})

test('the output limit makes a response incomplete, and so does a content filter', () => {
  const cases = { length: 'max_output_tokens', content_filter: 'content_filter' }
  for (const [finish, reason] of Object.entries(cases)) {
    const response = answerOf({ content: 'Era uma' }, finish)
    assert.equal(response.status, 'incomplete')
    assert.deepEqual(response.incomplete_details, { reason })
    assert.equal(response.output[0]?.status, 'incomplete')
    const events = streamOf([{ content: 'Era uma' }], finish)
    assertStreamIsWhole(events)
    assert.equal(events.at(-1)?.type, 'response.incomplete')
  }
})

test('a stream that breaks ends with response.failed, also if its end was already written', () => {
  for (const endsFirst of [false, true]) {
    const writer = writerOf(read({ input: 'Olá' }))
    const begun = writer.chunk({ choices: [{ index: 0, delta: { content: 'Era' } }] }) as string
    if (endsFirst) writer.end(CHARGED)
    const events = responseEvents(begun + writer.broken(refusals.streamBroken()))
    const last = events.at(-1) as StreamEvent
    assert.equal(last.type, 'response.failed')
    assert.equal(last.sequence_number, events.length - 1)
    const { status, error, usage } = last.response as JsonObject
    assert.equal(status, 'failed')
    assert.deepEqual(error, { code: 'server_error', message: refusals.streamBroken().message })
    assert.equal(usage, null)
  }
})

test('an answer without a chunk that is shown has all events of an empty response', () => {
  assert.deepEqual(
    responseEvents(writerOf(read({ input: 'Olá' })).end(CHARGED)).map(({ type }) => type),
    ['response.created', 'response.in_progress', 'response.completed'],
  )
})

test('the usage of a response is that of the charge', () => {
  const { usage, cost_billed_brl: cost, store } = answerOf({ content: 'Olá' })
  assert.deepEqual(usage, {
    input_tokens: 20,
    input_tokens_details: { cached_tokens: 5, cache_write_tokens: 3 },
    output_tokens: 9,
    output_tokens_details: { reasoning_tokens: 4 },
    total_tokens: 29,
  })
  assert.equal(cost, 0.001234567)
  assert.equal(store, false)
})

test('custom tools and namespaces are functions at the upstream, and themselves in the answer', () => {
  const request = read({
    input: 'Olá',
    tools: TOOLS,
    tool_choice: { type: 'custom', name: 'editar' },
  })
  assert.deepEqual(
    (request.body.tools as JsonObject[]).map((tool) => (tool.function as JsonObject).name),
    ['clima', 'editar', 'fila__ver'],
  )
  assert.deepEqual(request.body.tool_choice, { type: 'function', function: { name: 'editar' } })
  const calls = [
    { id: 'call_0', function: { name: 'editar', arguments: '{"input":"a\\nb"}' } },
    { id: 'call_1', function: { name: 'fila__ver', arguments: '' } },
  ]
  const { output } = answerOf({ content: null, tool_calls: calls }, 'tool_calls', request)
  assert.deepEqual(
    output.map(({ id: _id, status: _status, ...item }) => item),
    [
      { type: 'custom_tool_call', call_id: 'call_0', name: 'editar', input: 'a\nb' },
      { type: 'function_call', call_id: 'call_1', name: 'ver', namespace: 'fila', arguments: '{}' },
    ],
  )
  const results = [
    { type: 'custom_tool_call_output', call_id: 'call_0', output: 'feito' },
    {
      type: 'function_call_output',
      call_id: 'call_1',
      output: [{ type: 'input_image', image_url: PNG }],
    },
  ]
  const { messages } = read({
    input: ['Olá']
      .map((said) => ({ role: 'user', content: said }))
      .concat(output as never[], results as never[]),
  })
  assert.deepEqual(JSON.parse(JSON.stringify(messages.slice(1))), [
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: 'call_0',
          type: 'function',
          function: { name: 'editar', arguments: '{"input":"a\\nb"}' },
        },
        { id: 'call_1', type: 'function', function: { name: 'fila__ver', arguments: '{}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_0', content: 'feito' },
    { role: 'tool', tool_call_id: 'call_1', content: '' },
    { role: 'user', content: [{ type: 'image_url', image_url: { url: PNG } }] },
  ])
})

test('the text of a custom tool is read from arguments in any form', () => {
  const request = read({ input: 'Olá', tools: TOOLS })
  const forms = {
    '{"input":"a"}': 'a',
    ' {\n "input" : "\\u0061\\t\\\\" }': 'a\t\\',
    '{"texto":"a"}': '{"texto":"a"}',
    '"a"': 'a',
    'a b': 'a b',
    '': '',
  }
  for (const [args, input] of Object.entries(forms)) {
    const tool_calls = [{ id: 'call_0', function: { name: 'editar', arguments: args } }]
    assert.equal(answerOf({ tool_calls }, 'tool_calls', request).output[0]?.input, input, args)
  }
})

test('signatures beside texts and calls go back to them, and not to another model', () => {
  const extra = { google: { thought_signature: 'c2ln' } }
  const message = {
    content: null,
    tool_calls: [
      {
        id: 'call_0',
        type: 'function',
        extra_content: extra,
        function: { name: 'a', arguments: '{}' },
      },
    ],
    extra_content: extra,
  }
  const result = { type: 'function_call_output', call_id: 'call_0', output: '1' }
  const input = [{ role: 'user', content: 'Olá' }, ...answerOf(message).output, result]
  const back = read({ input }).messages[1] as JsonObject
  assert.deepEqual(back.extra_content, extra)
  assert.deepEqual((back.tool_calls as JsonObject[])[0]?.extra_content, extra)
  const [, ofOther] = read({ input, model: 'sandbox-long' }).messages
  assert.equal(ofOther?.extra_content, undefined)
  assert.ok(!JSON.stringify(ofOther).includes('c2ln'))
})

test('reasoning that others sealed is left out', () => {
  const foreign = createReasoningSeals({ sealingKey: randomBytes(32) })(CUSTOMER)
  const ofOtherCustomer = createReasoningSeals(keys)('another customer')
  const kept = { fields: { reasoning_content: 'segredo' }, calls: {} }
  for (const sealed of [
    foreign.seal(kept, [MODEL]),
    ofOtherCustomer.seal(kept, [MODEL]),
    'gAAAAAB',
    '',
    7,
  ]) {
    const { messages } = read({
      input: [
        { role: 'user', content: 'Olá' },
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: sealed },
        { role: 'assistant', content: [{ type: 'output_text', text: 'Oi' }] },
        { role: 'user', content: 'E?' },
      ],
    })
    assert.deepEqual(messages[1], { role: 'assistant', content: 'Oi' })
  }
})

test('reasoning that the previous key sealed is opened', () => {
  const kept = { fields: { reasoning_content: 'pensei' }, calls: {} }
  const sealed = createReasoningSeals(keys)(CUSTOMER).seal(kept, [MODEL])
  const rotated = createReasoningSeals({
    sealingKey: randomBytes(32),
    previousSealingKey: keys.sealingKey,
  })(CUSTOMER)
  assert.deepEqual(rotated.open(sealed, MODEL), kept)
})

test('the forms of tool_choice', () => {
  const chosen = (choice: unknown) => {
    const { tools, tool_choice } = read({ input: 'Olá', tools: TOOLS, tool_choice: choice }).body
    const names = (tools as JsonObject[]).map((tool) => (tool.function as JsonObject).name)
    return [tool_choice, names]
  }
  const all = ['clima', 'editar', 'fila__ver']
  for (const choice of ['auto', 'none', 'required']) assert.deepEqual(chosen(choice), [choice, all])
  for (const choice of [null, undefined, { type: 'web_search' }])
    assert.deepEqual(chosen(choice), [undefined, all])
  const named = (upstreamName: string) => ({ type: 'function', function: { name: upstreamName } })
  assert.deepEqual(chosen({ type: 'function', name: 'clima' }), [named('clima'), all])
  assert.deepEqual(chosen({ type: 'function', name: 'ver' }), [named('fila__ver'), all])
  const allowed = (mode: string, tools: object[]) => chosen({ type: 'allowed_tools', mode, tools })
  assert.deepEqual(allowed('required', [{ type: 'function', name: 'clima' }]), [
    'required',
    ['clima'],
  ])
  assert.deepEqual(allowed('auto', [{ type: 'custom', name: 'editar' }, { type: 'web_search' }]), [
    'auto',
    ['editar'],
  ])
})

/** A tool that the client runs, the arguments of a call, the item that the client gets, and its result. */
const CLIENT_RUN: readonly [tool: JsonObject, args: object, item: object, result: object][] = [
  [
    { type: 'shell', environment: { type: 'local' } },
    { commands: ['ls', 'pwd'] },
    {
      type: 'shell_call',
      action: { commands: ['ls', 'pwd'], timeout_ms: null, max_output_length: null },
    },
    {
      type: 'shell_call_output',
      output: [{ stdout: 'a', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
    },
  ],
  [
    { type: 'local_shell' },
    { command: ['ls'] },
    { type: 'local_shell_call', action: { type: 'exec', command: ['ls'], env: {} } },
    { type: 'local_shell_call_output', output: 'a' },
  ],
  [
    { type: 'apply_patch' },
    { type: 'create_file', path: 'a.txt', diff: '+a' },
    { type: 'apply_patch_call', operation: { type: 'create_file', path: 'a.txt', diff: '+a' } },
    { type: 'apply_patch_call_output', status: 'completed', output: 'done' },
  ],
  [
    { type: 'computer' },
    { actions: [{ type: 'click', x: 1, y: 2, button: 'left' }] },
    { type: 'computer_call', actions: [{ type: 'click', x: 1, y: 2, button: 'left' }] },
    { type: 'computer_call_output', output: { type: 'computer_screenshot', image_url: PNG } },
  ],
  [
    {
      type: 'computer_use_preview',
      display_width: 800,
      display_height: 600,
      environment: 'linux',
    },
    { type: 'wait' },
    { type: 'computer_call', action: { type: 'wait' } },
    { type: 'computer_call_output', output: { type: 'computer_screenshot', image_url: PNG } },
  ],
]

test('a tool that the client runs is called by an item of its own, plain and streamed, and its result goes back', () => {
  for (const [tool, args, item, result] of CLIENT_RUN) {
    const choice = { type: tool.type }
    const request = read({ input: 'Olá', tools: [tool], tool_choice: choice })
    const named = { type: 'function', function: { name: tool.type } }
    assert.deepEqual(request.body.tool_choice, named)
    const called = { name: tool.type, arguments: JSON.stringify(args) }
    const call = { id: 'call_1', type: 'function', function: called }
    // The published schemas in the tests have no such tools.
    const answer = { choices: [{ index: 0, message: { tool_calls: [call] } }] }
    const plain = JSON.parse(writerOf(request).answer(answer, CHARGED)) as { output: JsonObject[] }
    const parts = [called.arguments.slice(0, 4), called.arguments.slice(4)].map((text, at) =>
      at === 0
        ? { ...call, index: 0, function: { ...called, arguments: text } }
        : { index: 0, function: { arguments: text } },
    )
    const writer = writerOf(request)
    const chunks = parts.map((one) => ({ choices: [{ index: 0, delta: { tool_calls: [one] } }] }))
    const written = chunks.map((chunk) => writer.chunk(chunk) ?? '').join('') + writer.end(CHARGED)
    const events = written.split('\n').filter((line) => line.startsWith('data: '))
    const streamed = events.map((line) => JSON.parse(line.slice('data: '.length)) as JsonObject)
    const { response } = streamed.at(-1) as { response: { output: JsonObject[] } }
    const types = streamed.map(({ type }) => type)
    assert.equal(types.includes('response.function_call_arguments.delta'), false)
    for (const { output } of [plain, response]) {
      const [own] = output as [JsonObject]
      assert.equal(own.call_id, 'call_1')
      const shown = Object.fromEntries(Object.keys(item).map((field) => [field, own[field]]))
      assert.deepEqual(shown, item)
      const next = read({ input: ['Olá', own].map(toItem(result)).flat(), tools: [tool] })
      const [, assistant, answered] = next.messages as [JsonObject, any, JsonObject]
      assert.equal(assistant.tool_calls[0].function.name, tool.type)
      const sent = JSON.parse(assistant.tool_calls[0].function.arguments as string) as JsonObject
      for (const [field, value] of Object.entries(args)) assert.deepEqual(sent[field], value)
      assert.deepEqual([answered.role, answered.tool_call_id], ['tool', 'call_1'])
    }
  }
})

const toItem = (result: object) => (one: unknown) =>
  typeof one === 'string'
    ? [{ role: 'user', content: one }]
    : [one, { ...result, call_id: 'call_1' }]

test('tools that only a provider runs are refused, but for the search of the web, which is left out', () => {
  const container = { type: 'shell', environment: { type: 'container_auto' } }
  for (const type of ['mcp', 'file_search', 'code_interpreter', 'image_generation', 'new'])
    assert.match(refusalOf({ input: 'Olá', tools: [{ type }] }), /só o provedor do modelo executa/)
  assert.match(refusalOf({ input: 'Olá', tools: [container] }), /só o provedor/)
  const { body, hasTools } = read({
    input: 'Olá',
    tools: [{ type: 'web_search', external_web_access: true }, { type: 'web_search_preview' }],
    tool_choice: 'auto',
    parallel_tool_calls: true,
  })
  assert.equal(hasTools, false)
  assert.deepEqual(
    [body.tools, body.tool_choice, body.parallel_tool_calls],
    [undefined, undefined, undefined],
  )
})

test('nulls and unknown fields are accepted', () => {
  const fields = [
    'instructions',
    'tools',
    'tool_choice',
    'parallel_tool_calls',
    'reasoning',
    'store',
    'include',
    'prompt_cache_key',
    'client_metadata',
    'text',
    'max_output_tokens',
    'temperature',
    'top_p',
    'truncation',
    'metadata',
    'previous_response_id',
    'user',
    'background',
    'service_tier',
    'stream',
    'conversation',
    'prompt',
    'max_tool_calls',
    'safety_identifier',
    'top_logprobs',
  ]
  const request = read({
    input: 'Olá',
    ...Object.fromEntries(fields.map((field) => [field, null])),
  })
  answerOf({ content: 'Oi' }, 'stop', request)
  read({
    input: 'Olá',
    algo_novo: { a: 1 },
    service_tier: 'priority',
    store: true,
    truncation: 'auto',
  })
})

test('the fields of a request reach the chat', () => {
  const { body, outputTokensMax, hasSchema } = read({
    instructions: 'Seja breve.',
    input: [
      { role: 'developer', content: [{ type: 'input_text', text: 'Em português.' }] },
      { type: 'message', role: 'user', content: 'Olá' },
    ],
    max_output_tokens: 50,
    temperature: 0.5,
    top_p: 0.9,
    reasoning: { effort: 'low', summary: 'auto' },
    text: {
      verbosity: 'low',
      format: { type: 'json_schema', name: 'lugar', strict: true, schema: { type: 'object' } },
    },
    prompt_cache_key: 'chave',
    user: 'eu',
  })
  assert.equal(outputTokensMax, 50)
  assert.equal(hasSchema, true)
  assert.deepEqual(JSON.parse(JSON.stringify(body)), {
    model: MODEL,
    messages: [
      { role: 'system', content: 'Seja breve.' },
      { role: 'system', content: 'Em português.' },
      { role: 'user', content: 'Olá' },
    ],
    max_tokens: 50,
    temperature: 0.5,
    top_p: 0.9,
    reasoning_effort: 'low',
    verbosity: 'low',
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'lugar', strict: true, schema: { type: 'object' } },
    },
    prompt_cache_key: 'chave',
    user: 'eu',
  })
})

test('what cannot be answered is refused, in Portuguese', () => {
  const cases: [RegExp, object][] = [
    [/"background" não está disponível/, { input: 'Olá', background: true }],
    [
      /"previous_response_id" não está disponível/,
      { input: 'Olá', previous_response_id: 'resp_1' },
    ],
    [/"conversation" não está disponível/, { input: 'Olá', conversation: 'conv_1' }],
    [/"prompt" não está disponível/, { input: 'Olá', prompt: { id: 'pmpt_1' } }],
    [/"input" é obrigatório/, {}],
    [/"input" é obrigatório/, { input: [] }],
    [/"input" deve ter pelo menos uma mensagem/, { input: [{ type: 'reasoning', summary: [] }] }],
    [/"max_output_tokens" deve ser/, { input: 'Olá', max_output_tokens: 0 }],
    [
      /input\[0\]\.content\[0\]\.image_url deve ser um endereço/,
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'ftp://a.b/c' }] }] },
    ],
    [/input\[0\] deve ser um objeto/, { input: ['Olá'] }],
    [/input\[0\]\.role deve ser/, { input: [{ role: 'tool', content: 'Olá' }] }],
    [/partes deste tipo/, { input: [{ role: 'user', content: [{ type: 'input_audio' }] }] }],
    [
      /"file_id" não está disponível/,
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'file_1' }] }] },
    ],
    [
      /endereço dele em "file_url"; "file_id" não está/,
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file_1' }] }] },
    ],
    [
      /input\[0\]\.content\[0\]\.file_url deve ser um endereço/,
      { input: [{ role: 'user', content: [{ type: 'input_file', file_url: 'ftp://a.b/c' }] }] },
    ],
    [/"call_id" e "name"/, { input: [{ type: 'function_call', name: 'a' }] }],
    [/call_id é obrigatório/, { input: [{ type: 'function_call_output', output: 'a' }] }],
    [/"tools" deve ser uma lista/, { input: 'Olá', tools: 'todas' }],
    [/tools\[0\]\.name/, { input: 'Olá', tools: [{ type: 'function' }] }],
    [
      /input\[0\]: o item "msg_1" não foi encontrado.*"store: false" em providerOptions/,
      {
        input: [
          { type: 'item_reference', id: 'msg_1' },
          { role: 'user', content: 'E?' },
        ],
      },
    ],
  ]
  for (const [message, body] of cases) assert.match(refusalOf(body), message)
})

test('a reference to reasoning that is not stored is left out anywhere, and one to a call or a summary nowhere', () => {
  const asked = { role: 'user', content: 'Olá' }
  const said = { role: 'assistant', content: 'Oi' }
  for (const id of ['rs_1', 'ws_1']) {
    const { messages } = read({
      input: [asked, { type: 'item_reference', id }, said, { role: 'user', content: 'E?' }],
    })
    assert.deepEqual(
      messages.map(({ content }) => content),
      ['Olá', 'Oi', 'E?'],
    )
  }
  for (const id of ['fc_1', 'ctc_1', 'cmp_1', 'x', '', 7, undefined])
    assert.match(
      refusalOf({ input: [asked, said, { type: 'item_reference', id }] }),
      /^input\[2\]: o item ".*" não foi encontrado/,
    )
})

test('a reference to an item of the running turn does not end the loop of an agent', () => {
  const { messages } = read({
    input: [
      { role: 'user', content: 'Olá' },
      { type: 'item_reference', id: 'msg_1' },
      { type: 'function_call', call_id: 'call_0', name: 'clima', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_0', output: 'sol' },
    ],
  })
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'tool'],
  )
})
