// deep: an attack
/**
 * Any bodies, legal or not, in all formats of chats, to an upstream that reports the most that each may cost, on a
 * balance that covers a few of them: no charge is above the balance, and no answer is without a charge.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { BY_OPERATOR, ask } from '../harness/ask.ts'
import { untilNoHoldIsOpen, assertAudit } from '../harness/assert-audit.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { effort } from '../harness/effort.ts'
import fc, { anyGrapheme } from '../harness/fast-check.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import type { ServerResponse } from 'node:http'
import {
  startScriptedUpstream,
  type Behaviour,
  type ScriptedUpstream,
  type SeenCall,
} from '../harness/scripted-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { parseBrl } from '../../src/platform/lib/money.ts'

const MODELS = ['plain', 'cached', 'reasoning', 'response', 'claude'] as const
const PATHS = [
  '/chat/completions',
  '/responses',
  '/messages',
  'beta/generateContent',
  'beta/streamGenerateContent',
] as const
const AT_ONCE = 8
const CONTEXT_TOKENS = 100_000
const TEXT = 'Tudo certo por aqui.'

let upstream: ScriptedUpstream
let config: ConfigFile
let gateway: TestGateway

/** Every byte of the request is a token, and the output is as long as its limit. */
function highestTokens({ text, body }: SeenCall): { prompt: number; completion: number } {
  const limit = body.max_completion_tokens ?? body.max_tokens ?? body.max_output_tokens
  return { prompt: Buffer.byteLength(text), completion: Number(limit) * (body.n ?? 1) }
}

function answerJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function answerEvents(response: ServerResponse, events: readonly object[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events)
    response.write(
      `${'type' in event ? `event: ${String(event.type)}\n` : ''}data: ${JSON.stringify(event)}\n\n`,
    )
}

const expensiveChat: Behaviour = (call, response) => {
  const { body } = call
  const { prompt, completion } = highestTokens(call)
  const usage = {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(body.model === 'reasoning'
      ? { completion_tokens_details: { reasoning_tokens: completion - 1 } }
      : {}),
    ...(body.model === 'cached' ? { prompt_tokens_details: { cache_write_tokens: prompt } } : {}),
  }
  const places = Array.from({ length: body.n ?? 1 }, (_, index) => index)
  if (body.stream !== true) {
    const message = { role: 'assistant', content: TEXT }
    const choices = places.map((index) => ({ index, message, finish_reason: 'stop' }))
    return answerJson(response, { choices, usage })
  }
  answerEvents(response, [
    ...places.map((index) => ({ choices: [{ index, delta: { content: TEXT } }] })),
    ...places.map((index) => ({ choices: [{ index, delta: {}, finish_reason: 'stop' }] })),
    { choices: [], usage },
  ])
  response.end('data: [DONE]\n\n')
}

const expensiveResponse: Behaviour = (call, response) => {
  if (call.path.endsWith('/completions')) return expensiveChat(call, response)
  const { prompt, completion } = highestTokens(call)
  const content = [{ type: 'output_text', text: TEXT, annotations: [] }]
  const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content }
  const begun = { id: 'resp_1', object: 'response', status: 'in_progress', output: [] }
  const usage = {
    input_tokens: prompt,
    output_tokens: completion,
    total_tokens: prompt + completion,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: prompt },
    output_tokens_details: { reasoning_tokens: completion - 1 },
  }
  const ended = { ...begun, status: 'completed', output: [item], usage }
  if (call.body.stream !== true) return answerJson(response, ended)
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  answerEvents(response, [
    { type: 'response.created', response: begun },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
    { type: 'response.output_text.delta', ...place, delta: TEXT },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: ended },
  ])
  response.end()
}

const expensiveMessage: Behaviour = (call, response) => {
  const { prompt, completion } = highestTokens(call)
  const usage = {
    input_tokens: 0,
    cache_creation_input_tokens: prompt,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: prompt },
    output_tokens: completion,
  }
  const begun = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [] }
  const ending = { stop_reason: 'end_turn', stop_sequence: null }
  if (call.body.stream !== true)
    return answerJson(response, {
      ...begun,
      ...ending,
      content: [{ type: 'text', text: TEXT }],
      usage,
    })
  const delta = { type: 'text_delta', text: TEXT }
  answerEvents(response, [
    {
      type: 'message_start',
      message: { ...begun, stop_reason: null, usage: { ...usage, output_tokens: 1 } },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: ending, usage },
    { type: 'message_stop' },
  ])
  response.end()
}

function hasCache(model: string): boolean {
  return model === 'cached' || model === 'claude' || model === 'response'
}

before(async () => {
  upstream = await startScriptedUpstream()
  const kind = 'openai-compatible'
  const of = { base_url: upstream.baseUrl, retries: 0 }
  config = await writeConfigFile({
    upstreams: [
      { id: 'only', kind, ...of },
      { id: 'response', kind, speaks_responses: true, ...of },
      { id: 'claude', kind: 'anthropic', api_key_env: 'TEST_KEY', ...of },
    ],
    models: MODELS.map((id) => ({
      id,
      category: 'llm',
      prices: { input: 10, output: 20, ...(hasCache(id) ? { cache_write: 12.5 } : {}) },
      context_tokens: CONTEXT_TOKENS,
      max_output_tokens: 4_000,
      routes: [{ upstream: id === 'response' || id === 'claude' ? id : 'only', model: id }],
    })),
  } as never)
  for (const model of MODELS) upstream.play(model, expensiveChat)
  upstream.play('response', expensiveResponse)
  upstream.play('claude', expensiveMessage)
  gateway = await startGateway({ CATRACA_CONFIG: config.path, TEST_KEY: 'sk-test' })
})

after(async () => {
  await gateway.stop()
  await upstream.close()
  await config.remove()
})

const text = fc.string({ unit: anyGrapheme, maxLength: 40 })
const odd = fc.oneof(
  fc.constantFrom(null, -1, 0, 1.5, 1e300, '', 'x', [], {}, true, '5'),
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<any>,
)
const limit = fc.oneof(
  fc.integer({ min: 1, max: 4_000 }),
  fc.constantFrom(1, 16, 64, 999_999, 2 ** 31),
)
const tool = fc.record({ name: fc.constantFrom('f', 'g', 'h1'), description: text })
const parameters = { type: 'object', properties: { a: { type: 'string' } } }

const chat = fc.record(
  {
    messages: fc.array(
      fc.oneof(
        fc.record({ role: fc.constantFrom('user', 'system', 'developer'), content: text }),
        fc.record({
          role: fc.constant('user'),
          content: fc.array(fc.record({ type: fc.constant('text'), text }), { maxLength: 3 }),
        }),
        fc.record({ role: fc.constant('assistant'), content: text }),
        fc.record({
          role: fc.constant('assistant'),
          content: fc.constant(null),
          tool_calls: fc.array(
            fc.record({
              id: fc.constantFrom('1', '2'),
              type: fc.constant('function'),
              function: fc.record({ name: fc.constant('f'), arguments: text }),
            }),
            { minLength: 1, maxLength: 2 },
          ),
        }),
        fc.record({
          role: fc.constant('tool'),
          tool_call_id: fc.constantFrom('1', '2'),
          content: text,
        }),
      ),
      { minLength: 1, maxLength: 5 },
    ),
    max_tokens: limit,
    max_completion_tokens: limit,
    n: fc.integer({ min: 1, max: 4 }),
    temperature: fc.double({ min: 0, max: 2, noNaN: true }),
    stop: fc.oneof(text, fc.array(text, { maxLength: 4 })),
    tools: fc.array(
      tool.map((each) => ({ type: 'function', function: { ...each, parameters } })),
      { maxLength: 3 },
    ),
    response_format: fc.constantFrom(
      { type: 'json_object' },
      { type: 'json_schema', json_schema: { name: 's', schema: parameters } },
    ),
    stream_options: fc.record({ include_usage: fc.boolean() }),
    user: text,
    metadata: fc.dictionary(text, text, { maxKeys: 3 }),
    prompt_cache_key: text,
    logprobs: fc.boolean(),
    models: fc.subarray([...MODELS]),
    fallback_models: fc.subarray([...MODELS]),
  },
  { requiredKeys: ['messages'] },
)

const responses = fc.record(
  {
    input: fc.oneof(
      text,
      fc.array(
        fc.oneof(
          fc.record({ role: fc.constantFrom('user', 'developer', 'assistant'), content: text }),
          fc.record({
            type: fc.constant('message'),
            role: fc.constant('user'),
            content: fc.array(fc.record({ type: fc.constant('input_text'), text }), {
              maxLength: 3,
            }),
          }),
          fc.record({
            type: fc.constant('function_call'),
            call_id: fc.constantFrom('1', '2'),
            name: fc.constant('f'),
            arguments: text,
          }),
          fc.record({
            type: fc.constant('function_call_output'),
            call_id: fc.constantFrom('1', '2'),
            output: text,
          }),
          fc.record({
            type: fc.constant('reasoning'),
            summary: fc.constant([]),
            encrypted_content: text,
          }),
        ),
        { maxLength: 5 },
      ),
    ),
    instructions: text,
    max_output_tokens: limit,
    tools: fc.array(
      fc.oneof(
        tool.map((each) => ({ type: 'function', ...each, parameters })),
        tool.map(({ name }) => ({ type: 'custom', name })),
        tool.map(({ name }) => ({ type: 'namespace', name, tools: [] })),
        fc.constant({ type: 'web_search' }),
      ),
      { maxLength: 3 },
    ),
    store: fc.boolean(),
    text: fc.constantFrom({ format: { type: 'text' } }, { verbosity: 'low' }),
    reasoning: fc.constantFrom({ effort: 'low' }, null),
    previous_response_id: fc.constant(null),
    include: fc.constant(['reasoning.encrypted_content']),
    metadata: fc.dictionary(text, text, { maxKeys: 3 }),
  },
  { requiredKeys: ['input'] },
)

const block = fc.record({ type: fc.constant('text'), text })
const messages = fc.record(
  {
    messages: fc.array(
      fc.oneof(
        fc.record({ role: fc.constantFrom('user', 'assistant', 'system'), content: text }),
        fc.record({ role: fc.constant('user'), content: fc.array(block, { maxLength: 3 }) }),
        fc.record({
          role: fc.constant('assistant'),
          content: fc.array(
            fc.record({
              type: fc.constant('tool_use'),
              id: fc.constantFrom('1', '2'),
              name: fc.constant('f'),
              input: fc.dictionary(text, text, { maxKeys: 2 }),
            }),
            { maxLength: 2 },
          ),
        }),
        fc.record({
          role: fc.constant('user'),
          content: fc.array(
            fc.record({
              type: fc.constant('tool_result'),
              tool_use_id: fc.constantFrom('1', '2'),
              content: fc.oneof(text, fc.array(block, { maxLength: 2 })),
            }),
            { maxLength: 2 },
          ),
        }),
      ),
      { minLength: 1, maxLength: 5 },
    ),
    max_tokens: limit,
    system: fc.oneof(text, fc.array(block, { maxLength: 2 })),
    tools: fc.array(
      tool.map((each) => ({ ...each, input_schema: parameters })),
      { maxLength: 3 },
    ),
    thinking: fc.constantFrom({ type: 'enabled', budget_tokens: 1_024 }, { type: 'adaptive' }),
    stop_sequences: fc.array(text, { maxLength: 3 }),
    metadata: fc.record({ user_id: text }),
    temperature: fc.double({ min: 0, max: 1, noNaN: true }),
  },
  { requiredKeys: ['messages', 'max_tokens'] },
)

const content = fc.record(
  {
    role: fc.constantFrom('user', 'model', 'function'),
    parts: fc.array(
      fc.oneof(
        fc.record({ text }),
        fc.record({ text, thought: fc.boolean(), thoughtSignature: text }),
        fc.record({ functionCall: fc.record({ name: fc.constant('f'), args: odd }) }),
        fc.record({
          functionResponse: fc.record({ name: fc.constantFrom('f', 'g'), response: odd }),
        }),
      ),
      { maxLength: 3 },
    ),
  },
  { requiredKeys: ['parts'] },
)
const schema = fc.letrec((tie) => ({
  any: fc.record(
    {
      type: fc.constantFrom('STRING', 'OBJECT', 'ARRAY', 'TYPE_UNSPECIFIED'),
      nullable: fc.boolean(),
      min_items: fc.constantFrom('1', 2),
      items: tie('any'),
      properties: fc.dictionary(fc.oneof(text, fc.constant('__proto__')), tie('any'), {
        maxKeys: 2,
      }),
      anyOf: fc.array(tie('any'), { maxLength: 2 }),
    },
    { requiredKeys: [] },
  ),
})).any
const gemini = fc.record(
  {
    contents: fc.array(content, { minLength: 1, maxLength: 4 }),
    systemInstruction: content,
    tools: fc.array(
      fc.record({
        functionDeclarations: fc.array(
          tool.chain((each) => schema.map((one) => ({ ...each, parameters: one }))),
          { maxLength: 2 },
        ),
      }),
      { maxLength: 2 },
    ),
    toolConfig: fc.constantFrom(
      { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f', 'constructor'] } },
      { function_calling_config: { mode: 'NONE' } },
    ),
    generationConfig: fc.record(
      {
        maxOutputTokens: fc.oneof(limit, limit.map(String)),
        candidateCount: fc.integer({ min: 1, max: 8 }),
        stop_sequences: fc.array(text, { maxLength: 3 }),
        thinkingConfig: fc.record({ thinkingBudget: fc.constantFrom(-1, 0, 128, 1e9) }),
        responseSchema: schema,
        topK: odd,
      },
      { requiredKeys: [] },
    ),
    models: fc.subarray([...MODELS]),
  },
  { requiredKeys: ['contents'] },
)

interface Sent {
  readonly path: (typeof PATHS)[number]
  readonly body: string
  /** Leaves after the first bytes of the answer. */
  readonly leaves: boolean
}

/** A field is replaced, or the JSON is cut. */
const damage = fc.oneof(
  { weight: 8, arbitrary: fc.constant(null) },
  { weight: 3, arbitrary: fc.record({ field: fc.nat(), value: odd }) },
  { weight: 1, arbitrary: fc.record({ cutAt: fc.double({ min: 0, max: 1, noNaN: true }) }) },
)

const sent: fc.Arbitrary<Sent> = fc
  .record({
    made: fc.oneof(
      fc.tuple(fc.constant(PATHS[0]), chat),
      fc.tuple(fc.constant(PATHS[1]), responses),
      fc.tuple(fc.constant(PATHS[2]), messages),
      fc.tuple(fc.constantFrom(PATHS[3], PATHS[4]), gemini),
    ),
    model: fc.constantFrom(...MODELS),
    stream: fc.boolean(),
    leaves: fc.boolean(),
    damage,
  })
  .map(({ made: [path, fields], model, stream, leaves, damage: done }) => {
    const body: Record<string, unknown> = { model, stream, ...fields }
    if (done && 'field' in done) {
      const names = Object.keys(body)
      body[names[done.field % names.length] as string] = done.value
    }
    const whole = JSON.stringify(body)
    const cut =
      done && 'cutAt' in done ? whole.slice(0, Math.floor(done.cutAt * whole.length)) : whole
    return { path, body: cut, leaves: leaves && stream }
  })

async function send(secret: string, { path, body, leaves }: Sent): Promise<boolean> {
  const leaving = new AbortController()
  const answer = await fetch(`${gateway.node.baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body,
    signal: leaving.signal,
  })
  assert.ok(answer.status < 500, `${answer.status} for ${body}`)
  if (leaves && answer.status === 200) {
    await answer.body?.getReader().read()
    leaving.abort()
    return true
  }
  const read = await answer.text()
  return answer.status === 200 && read.includes(TEXT)
}

async function breakers(): Promise<number[]> {
  const { text: metrics } = await ask(new URL(gateway.node.baseUrl).origin, '/metrics', BY_OPERATOR)
  return [...metrics.matchAll(/^catraca_route_breaker_state\{.*upstream=.*\} (\d)$/gm)].map(
    ([, state]) => Number(state),
  )
}

test('charges stay within the balance, and every answer has one', async () => {
  const { db } = gateway.database
  await fc.assert(
    fc.asyncProperty(
      fc.array(sent, { minLength: 1, maxLength: AT_ONCE }),
      fc.integer({ min: 1, max: 30 }),
      async (requests, cents) => {
        const balanceBrl = (cents / 20).toFixed(2)
        const { customerId, secret } = await seedCustomer(db, { balanceBrl })
        const answered = await Promise.all(requests.map((request) => send(secret, request)))
        await untilNoHoldIsOpen(gateway.database)
        const events = await db
          .selectFrom('usage_events')
          .select(['outcome', 'reason', 'cost_billed_nano_brl', 'held_nano_brl'])
          .where('customer_id', '=', customerId)
          .execute()
        const charged = events.filter(({ outcome }) => outcome === 'charged')
        for (const each of charged) assert.ok(each.cost_billed_nano_brl <= each.held_nano_brl)
        const sum = charged.reduce((all, each) => all + each.cost_billed_nano_brl, 0n)
        assert.ok(sum <= (parseBrl(balanceBrl) as bigint), `${sum} of ${balanceBrl}`)
        assert.ok(charged.every((each) => each.cost_billed_nano_brl > 0n))
        assert.equal(charged.length, answered.filter(Boolean).length)
      },
    ),
    { numRuns: effort({ ordinary: 60, full: 2_000 }) },
  )
  const states = await breakers()
  assert.ok(states.length >= MODELS.length && states.every((state) => state === 0))
  await assertAudit(gateway.database)
})
