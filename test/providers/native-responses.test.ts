// deep: every field of the format
/** Requests in the Responses format to upstreams that speak it: what is sent as it came, what is never sent, the answers. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { createReasoningSeals } from '../../src/gateway/calls/chat/formats/responses/reasoning-seal.ts'
import { createResponsesFormat } from '../../src/gateway/calls/chat/formats/responses/responses-format.ts'
import { createToolCallIds } from '../../src/gateway/calls/chat/tool-call-ids.ts'
import { isRefusal } from '../../src/gateway/calls/refusal.ts'
import {
  StreamBroken,
  type ChatCall,
  type JsonObject,
  type Provider,
  type StreamChunk,
} from '../../src/gateway/providers/contract.ts'
import { createOpenAiCompatible } from '../../src/gateway/providers/openai-compatible/create-openai-compatible.ts'
import fc, { anyCharacter } from '../harness/fast-check.ts'
import { answerJson, startScriptedServer, type ScriptedServer } from './scripted-server.ts'

const PNG_DATA =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const USAGE = {
  input_tokens: 50,
  input_tokens_details: { cached_tokens: 10, cache_write_tokens: 0 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 5 },
  total_tokens: 70,
}
const OUTPUT = [
  {
    id: 'rs_up',
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: 'Hm.' }],
    encrypted_content: 'gAAAA+/=',
  },
  {
    id: 'fc_up',
    type: 'function_call',
    call_id: 'call_up',
    name: 'look',
    arguments: '{"at":1}',
    status: 'completed',
  },
]
const RESPONSE = { id: 'resp_up', status: 'completed', model: 'up', output: OUTPUT, usage: USAGE }
const EVENTS: readonly JsonObject[] = [
  { type: 'response.created', response: { ...RESPONSE, status: 'in_progress', output: [] } },
  { type: 'response.output_item.added', output_index: 0, item: OUTPUT[0] },
  {
    type: 'response.reasoning_summary_text.delta',
    output_index: 0,
    item_id: 'rs_up',
    delta: 'Hm.',
  },
  {
    type: 'response.output_item.added',
    output_index: 1,
    item: { ...OUTPUT[1], arguments: '' },
  },
  {
    type: 'response.function_call_arguments.delta',
    output_index: 1,
    item_id: 'fc_up',
    delta: '{"at":1}',
  },
  { type: 'response.completed', response: RESPONSE },
]

let server: ScriptedServer
let provider: Provider
let refusal: number | undefined
let events = EVENTS
let answer: JsonObject = RESPONSE

before(async () => {
  server = await startScriptedServer(({ path, text }, response) => {
    if (path.endsWith('/chat/completions'))
      return answerJson(response, 200, {
        choices: [
          { index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' },
        ],
        usage: { prompt_tokens: 50, completion_tokens: 20 },
      })
    if (refusal) return answerJson(response, refusal, { error: { code: 'invalid_value' } })
    if (!text.includes('"stream":true')) return answerJson(response, 200, answer)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of events) {
      const name = typeof event.type === 'string' ? event.type : 'odd'
      response.write(`event: ${name}\ndata: ${JSON.stringify(event)}\n\n`)
    }
    response.end()
  })
  provider = open(server.url)
})
beforeEach(() => {
  server.received.length = 0
  refusal = undefined
  events = EVENTS
  answer = RESPONSE
})
after(async () => {
  await provider.close()
  await server.close()
})

function open(url: string, speaksResponses = true): Provider {
  return createOpenAiCompatible({
    baseUrl: `${url}/v1`,
    apiKey: 'a-key',
    maxTokensField: 'max_completion_tokens',
    serviceTier: 'default',
    opensOnlyImages: true,
    speaksResponses,
    cancelStopsBilling: true,
    connectTimeoutMs: 2_000,
    firstByteTimeoutMs: 2_000,
    idleTimeoutMs: 2_000,
    connectionsMax: 4,
  })
}

const ids = createToolCallIds([randomBytes(32)])
const CUSTOMER = 'a customer'
const format = createResponsesFormat(createReasoningSeals({ sealingKey: randomBytes(32) }), ids)

function callOf(fields: JsonObject, changes: Partial<ChatCall> = {}): ChatCall {
  const request = format.readRequest(Buffer.from(JSON.stringify({ model: 'm', ...fields })), {
    customerId: CUSTOMER,
  })
  if (isRefusal(request)) assert.fail(request.message)
  const { imageBytes, hasImageAddresses, hasCacheControl, cachesForAnHour, hasFiles, hasAudio } =
    request
  return {
    model: 'name-at-upstream',
    body: request.body,
    native: request.native,
    memo: {},
    isStream: request.isStream,
    outputTokensMax: 4_096,
    callId: 'call-1',
    imageBytes,
    hasImageAddresses,
    hasCacheControl,
    cachesForAnHour,
    hasFiles,
    hasAudio,
    webSearchesMax: 0,
    ...changes,
  }
}

async function answerOf(call: ChatCall, from = provider) {
  const outcome = await from.completeChat?.(call, new AbortController().signal)
  assert.ok(outcome)
  const chunks: StreamChunk[] = []
  if (outcome.kind === 'stream') await outcome.each((some) => void chunks.push(...some))
  return { outcome, chunks }
}

const pathsOf = (): string[] => server.received.map(({ path }) => path)

async function sentFor(fields: JsonObject, changes?: Partial<ChatCall>): Promise<any> {
  const { outcome } = await answerOf(callOf(fields, changes))
  assert.equal(outcome.kind, 'answer')
  const last = server.received.at(-1)
  return JSON.parse(last?.text as string)
}

const text = fc
  .string({ unit: anyCharacter, minLength: 1, maxLength: 24 })
  .filter((one) => one.isWellFormed())
const name = fc.stringMatching(/^[a-z]{1,8}$/)
const part = fc.oneof(
  text.map((said) => ({ type: 'input_text', text: said })),
  fc.constant({
    type: 'input_image',
    image_url: `data:image/png;base64,${PNG_DATA}`,
    detail: 'high',
  }),
)
const anyItem: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({
    type: fc.constant('message'),
    role: fc.constantFrom('user', 'developer'),
    content: fc.oneof(text, fc.array(part, { minLength: 1, maxLength: 3 })),
  }),
  text.map((said) => ({
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text: said }],
  })),
  fc.record({
    type: fc.constant('reasoning'),
    summary: fc.array(
      text.map((said) => ({ type: 'summary_text', text: said })),
      { maxLength: 2 },
    ),
    encrypted_content: text,
  }),
  fc.record({
    type: fc.constant('function_call'),
    call_id: name,
    name,
    arguments: fc.constant('{"a":1}'),
  }),
  fc.record({
    type: fc.constant('function_call_output'),
    call_id: name,
    output: fc.oneof(text, fc.array(part, { minLength: 1, maxLength: 2 })),
  }),
  fc.record({ type: fc.constant('custom_tool_call'), call_id: name, name, input: text }),
  fc.record({ type: fc.constant('custom_tool_call_output'), call_id: name, output: text }),
)

const conversation = fc
  .array(anyItem, { maxLength: 8 })
  .map((items) => [{ type: 'message', role: 'user', content: 'a' }, ...items])

test('a conversation arrives as its client wrote it: order, reasoning, calls, images', async () => {
  await fc.assert(
    fc.asyncProperty(conversation, async (items) => {
      // Ids lead nowhere, because nothing is stored.
      const input = items.map((one, index) => ({
        ...one,
        id: `item_${index}`,
        status: 'completed',
      }))
      const sent = await sentFor({ input, instructions: 'Seja breve.' })
      assert.equal(server.received.at(-1)?.path, '/v1/responses')
      assert.deepEqual(sent.input, JSON.parse(JSON.stringify(items)))
      assert.equal(sent.instructions, 'Seja breve.')
    }),
    { numRuns: 100 },
  )
})

test('what has a price that nobody knows is never sent, and nothing is stored', async () => {
  const sent = await sentFor({
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'a', unknown: 1 }] },
      { type: 'web_search_call', id: 'ws_1', status: 'completed' },
      { type: 'function_call', call_id: 'c', name: 'docs__look', namespace: 'x', arguments: '{}' },
    ],
    tools: [
      { type: 'web_search' },
      { type: 'function', name: 'look', parameters: null, strict: true, unknown: 1 },
      {
        type: 'custom',
        name: 'patch',
        format: { type: 'grammar', syntax: 'lark', definition: 'x' },
      },
      { type: 'namespace', name: 'docs', tools: [{ type: 'function', name: 'look' }] },
    ],
    tool_choice: { type: 'custom', name: 'patch' },
    store: true,
    service_tier: 'priority',
    background: false,
    include: ['reasoning.encrypted_content', 'web_search_call.action.sources'],
    reasoning: { effort: 'low', summary: 'auto', mode: 'pro' },
    text: { format: { type: 'text' }, verbosity: 'low', unknown: 1 },
    context_management: [{ type: 'compaction' }],
    metadata: { a: 'b' },
    max_tool_calls: 9,
    top_logprobs: 5,
    prompt_cache_key: 'k',
    unknown_field: { web: true },
    max_output_tokens: 9_000,
  })
  assert.deepEqual(sent, {
    model: 'name-at-upstream',
    max_output_tokens: 4_096,
    store: false,
    service_tier: 'default',
    prompt_cache_key: 'k',
    include: ['reasoning.encrypted_content'],
    reasoning: { effort: 'low', summary: 'auto' },
    text: { verbosity: 'low', format: { type: 'text' } },
    tools: [
      { type: 'function', name: 'look', parameters: null, strict: true },
      {
        type: 'custom',
        name: 'patch',
        format: { type: 'grammar', syntax: 'lark', definition: 'x' },
      },
      { type: 'function', name: 'docs__look' },
    ],
    tool_choice: { type: 'custom', name: 'patch' },
    input: [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'a' }] },
      { type: 'function_call', call_id: 'c', name: 'x__docs__look', arguments: '{}' },
    ],
  })
})

test('images and files are sent where the translation counts and checks them, and nowhere else', async () => {
  const image = { type: 'input_image', image_url: `data:image/png;base64,${PNG_DATA}` }
  const pdf = Buffer.from('%PDF-1.4').toString('base64')
  const sent = await sentFor({
    input: [
      {
        role: 'user',
        content: [{ type: 'input_text', text: 'a', image_url: image.image_url, content: [image] }],
        output: [image],
      },
      { type: 'reasoning', summary: [image], content: [image], encrypted_content: 'gAAAA' },
      {
        role: 'user',
        content: [{ type: 'input_file', file_data: pdf, file_url: 'http://files.test/a.pdf' }],
      },
    ],
  })
  assert.deepEqual(sent.input, [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'a' }] },
    { type: 'reasoning', summary: [], encrypted_content: 'gAAAA' },
    {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_file', file_data: `data:application/pdf;base64,${pdf}` }],
    },
  ])
})

test('an item, a part or a tool whose type is no text is sent no more than it is translated', async () => {
  const image = { type: 'input_image', image_url: `data:image/png;base64,${PNG_DATA}` }
  for (const odd of [(type: string) => [type], () => ({ toString: 1, valueOf: 1 })]) {
    const sent = await sentFor({
      input: [
        { role: 'user', content: [{ ...image, detail: odd('high') }] },
        { type: odd('message'), role: 'user', content: [image] },
        { type: odd('function_call_output'), call_id: 'c', output: [image] },
      ],
      tools: [
        { type: 'function', name: 'look' },
        {
          type: 'namespace',
          name: 'n',
          tools: [
            { type: 'mcp', name: odd('look') },
            { type: odd('function'), name: 'look', description: 'x' },
          ],
        },
        { type: 'custom', name: 'write', format: { syntax: odd('lark'), definition: 'a' } },
      ],
    })
    assert.deepEqual(sent.input, [{ type: 'message', role: 'user', content: [image] }])
    assert.deepEqual(
      sent.tools.map((tool: JsonObject) => [tool.type, tool.name]),
      [
        ['function', 'look'],
        ['custom', 'write'],
      ],
    )
  }
})

test('an answer shows no item whose type is no text, and is written all the same', async () => {
  for (const type of [['message'], { toString: 1, valueOf: 1 }]) {
    const hidden = { type, role: 'assistant', content: [{ type: 'output_text', text: 'x' }] }
    answer = {
      ...RESPONSE,
      output: [hidden, { type: 'message', role: 'assistant', content: [{ ...hidden }] }],
    }
    events = [
      { type },
      { type: 'response.output_item.done', output_index: 0, item: hidden },
      { type: 'response.completed', response: answer },
    ]
    for (const stream of [false, true]) {
      const request = format.readRequest(
        Buffer.from(JSON.stringify({ model: 'm', input: 'Hi', stream })),
        { customerId: CUSTOMER },
      )
      if (isRefusal(request)) assert.fail(request.message)
      const writer = format.createWriter({ id: 'call', modelId: 'm', request })
      const { outcome, chunks } = await answerOf(callOf({ input: 'Hi', stream }))
      const charged = { ...TOKENS, billedNanoBrl: 1n }
      for (const { body, native } of chunks) writer.chunk(body, native)
      const written =
        outcome.kind === 'answer'
          ? writer.answer(outcome.body, charged, outcome.native)
          : (writer.end(charged).split('data: ').at(-1) as string)
      const read = JSON.parse(written)
      assert.deepEqual((stream ? read.response : read).output, [
        { id: 'msg_call1', type: 'message', role: 'assistant', content: [] },
      ])
    }
  }
})

test('reasoning is left out for a model that the gateway knows not to reason', async () => {
  const fields = {
    input: 'a',
    reasoning: { effort: 'low' },
    include: ['reasoning.encrypted_content'],
  }
  const { reasoning_effort: _effort, ...body } = callOf(fields).body
  const sent = await sentFor(fields, { body })
  assert.equal(sent.reasoning, undefined)
  assert.equal(sent.include, undefined)
})

test('a limit below the least of the format is sent in a chat, and so is what is refused natively', async () => {
  await answerOf(callOf({ input: 'a' }, { outputTokensMax: 15 }))
  assert.deepEqual(pathsOf(), ['/v1/chat/completions'])
  for (const status of [400, 404]) {
    server.received.length = 0
    refusal = status
    const { outcome } = await answerOf(callOf({ input: 'a' }))
    assert.equal(outcome.kind === 'answer' && outcome.native, undefined)
    assert.deepEqual(pathsOf(), ['/v1/responses', '/v1/chat/completions'])
  }
  server.received.length = 0
  refusal = 429
  const { outcome } = await answerOf(callOf({ input: 'a' }))
  assert.equal(outcome.kind === 'failure' && outcome.reason, 'rate_limited')
  assert.deepEqual(pathsOf(), ['/v1/responses'])
  refusal = undefined
  const other = open(server.url, false)
  await answerOf(callOf({ input: 'a' }), other)
  assert.equal(server.received.at(-1)?.path, '/v1/chat/completions')
  await other.close()
})

const TOKENS = {
  promptTokens: 50,
  cachedTokens: 10,
  cacheWriteTokens: 0,
  completionTokens: 20,
  reasoningTokens: 5,
}

test('the answer is the upstream’s own, beside its translation and its usage', async () => {
  const { outcome } = await answerOf(callOf({ input: 'a' }))
  assert.deepEqual(outcome, {
    kind: 'answer',
    body: {
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: null,
            refusal: null,
            reasoning_content: 'Hm.',
            reasoning_details: [{ data: 'gAAAA+/=' }],
            tool_calls: [
              {
                id: 'call_up',
                type: 'function',
                function: { name: 'look', arguments: '{"at":1}' },
              },
            ],
          },
          finish_reason: 'tool_calls',
        },
      ],
    },
    native: RESPONSE,
    usage: TOKENS,
  })
  answer = { ...RESPONSE, status: 'failed', error: { code: 'server_error', message: 'secret' } }
  const failed = await answerOf(callOf({ input: 'a' }))
  assert.deepEqual(failed.outcome, {
    kind: 'failure',
    reason: 'server_error',
    detail: 'error in the answer: server_error',
  })
  answer = { ...RESPONSE, status: 'failed', error: { code: 'invalid_image', message: 'secret' } }
  const refused = await answerOf(callOf({ input: 'a' }))
  assert.deepEqual(refused.outcome, {
    kind: 'failure',
    reason: 'refused_request',
    status: 400,
    detail: '400: invalid_image',
  })
})

test('the events of a stream are the upstream’s own, each once, without those that repeat the request, with their output counted', async () => {
  const { chunks } = await answerOf(callOf({ input: 'a', stream: true }))
  assert.deepEqual(
    chunks.flatMap(({ native }) => native),
    EVENTS.filter(
      ({ type }) => !['response.created', 'response.in_progress'].includes(String(type)),
    ),
  )
  const deltas = chunks.flatMap(({ body }) => (body.choices as any[]).map(({ delta }) => delta))
  assert.deepEqual(deltas, [
    // This upstream shows the whole item at its beginning, too.
    { content: 'Hm.' },
    { reasoning_content: 'Hm.' },
    {
      tool_calls: [
        { index: 1, id: 'call_up', type: 'function', function: { name: 'look', arguments: '' } },
      ],
    },
    { tool_calls: [{ index: 1, function: { arguments: '{"at":1}' } }] },
    { reasoning_details: [{ data: 'gAAAA+/=' }] },
  ])
  assert.deepEqual(chunks.at(-1)?.usage, TOKENS)
})

test('output that comes whole, without deltas, is counted once: in the event that ends its item, or in the last one', async () => {
  const [reasoning, call] = OUTPUT
  const message = { type: 'message', content: [{ type: 'output_text', text: 'Olá.' }] }
  const added = { type: 'response.output_item.added' }
  const done = { type: 'response.output_item.done' }
  events = [
    { ...done, output_index: 0, item: reasoning },
    { ...added, output_index: 1, item: call },
    { ...done, output_index: 1, item: call },
    { ...added, output_index: 2, item: { ...call, arguments: '' } },
    { ...done, output_index: 2, item: call },
    { type: 'response.completed', response: { output: [reasoning, call, call, message] } },
  ]
  const { chunks } = await answerOf(callOf({ input: 'a', stream: true }))
  const deltas = chunks.map(({ body }) => (body.choices as any[])[0]?.delta)
  const named = (index: number, args: string) => ({
    tool_calls: [
      { index, id: 'call_up', type: 'function', function: { name: 'look', arguments: args } },
    ],
  })
  assert.deepEqual(deltas, [
    { content: 'Hm.', reasoning_details: [{ data: 'gAAAA+/=' }] },
    named(1, '{"at":1}'),
    undefined,
    named(2, ''),
    { content: '{"at":1}' },
    { content: 'Olá.' },
  ])
})

test('a stream that fails, or ends before its last event, is broken; before any output it can move on', async () => {
  const failed = { type: 'response.failed', response: { error: { code: 'server_error' } } }
  const refused = { type: 'response.failed', response: { error: { code: 'invalid_prompt' } } }
  const limited = { type: 'error', code: 'rate_limit_exceeded', message: 'secret' }
  for (const [wanted, reason] of [
    [[...EVENTS.slice(0, 3), failed], 'server_error'],
    [[...EVENTS.slice(0, 3), refused], 'refused_request'],
    [[EVENTS[0] as JsonObject, refused], 'refused_request'],
    [[EVENTS[0] as JsonObject, limited], 'rate_limited'],
    [EVENTS.slice(0, 3), 'connection_lost'],
    [[EVENTS[0] as JsonObject, failed], 'server_error'],
  ] as const) {
    events = wanted
    const outcome = await provider.completeChat?.(
      callOf({ input: 'a', stream: true }),
      new AbortController().signal,
    )
    assert.ok(outcome?.kind === 'stream')
    const chunks: StreamChunk[] = []
    await assert.rejects(
      outcome.each((some) => void chunks.push(...some)),
      (error) => error instanceof StreamBroken && error.failure.reason === reason,
    )
    assert.equal(chunks.length, wanted.length === 2 ? 0 : 2)
  }
})

test('the measured size is at least that of both bodies that may be sent, without the data of images', async () => {
  await fc.assert(
    fc.asyncProperty(conversation, async (input) => {
      const call = callOf({ input, tools: [{ type: 'custom', name: 'patch' }] })
      const measured = Number(await provider.measureChat?.(call))
      for (const outputTokensMax of [100, 15]) {
        await answerOf({ ...call, memo: {}, outputTokensMax })
        const sent = server.received.at(-1)?.text as string
        assert.ok(measured >= Buffer.byteLength(sent.replaceAll(PNG_DATA, '')))
      }
    }),
    { numRuns: 50 },
  )
})
