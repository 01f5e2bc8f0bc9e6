// deep: every format of a client over every format of an upstream
/**
 * Chats in each client's format over an upstream of each format, over real sockets: the same answer, the same tokens and
 * the same charge, plain and streamed. Where both speak the same format, the body and the answer pass natively.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import {
  startSandboxUpstream,
  type SandboxUpstream,
} from '../../src/sandbox/upstream/start-sandbox-upstream.ts'
import { accumulateMessage } from '../harness/accumulate-message.ts'
import { ask, askChat, sound, type Asked } from '../harness/ask.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { configured, nanoBrl, perMillion, plus, theOutcome } from '../harness/media-calls.ts'
import { responseEvents } from '../responses/assert-response.ts'

let gateway: TestGateway
let sandbox: SandboxUpstream

const UPSTREAMS = ['chat', 'messages', 'responses'] as const
type Format = (typeof UPSTREAMS)[number]
const MODELS = [
  'chat',
  'reasoning',
  'cached',
  'cut-stream',
  'error-in-stream',
  'error-500',
  'long',
  'stall',
] as const

before(async () => {
  sandbox = await startSandboxUpstream()
  // Its tokenizer is loaded by the first chat.
  await askChat(new URL(sandbox.baseUrl).origin, undefined, sound('sandbox-chat', {}))
  const upstream = (id: string, kind: string, more: object = {}): object => ({
    id,
    kind,
    base_url: sandbox.baseUrl,
    retries: 0,
    breaker: { failures: 0 },
    cancel_stops_billing: true,
    first_byte_timeout_ms: 4_000,
    idle_timeout_ms: 1_000,
    ...more,
  })
  const twoRoutes = (id: Format) => ({
    ...modelOf(`${id}-two-routes`),
    routes: [
      { upstream: id, model: 'sandbox-error-500', priority: 1 },
      { upstream: 'chat', model: 'sandbox-chat', priority: 2 },
    ],
  })
  const config = {
    upstreams: [
      upstream('chat', 'openai-compatible'),
      upstream('messages', 'anthropic', { api_key_env: 'MATRIX_KEY' }),
      upstream('responses', 'openai-compatible', { speaks_responses: true }),
    ],
    models: [
      twoRoutes('messages'),
      twoRoutes('responses'),
      ...UPSTREAMS.flatMap((route) =>
        MODELS.map((name) => ({
          ...modelOf(`${route}-${name}`),
          routes: [{ upstream: route, model: `sandbox-${name}` }],
        })),
      ),
    ],
  }
  gateway = await startGateway({ ...configured(config), MATRIX_KEY: 'a-key' })
})

const modelOf = (id: string): object => ({
  id,
  category: 'llm',
  prices: { input: 1, cached_input: '0.25', cache_write: '1.25', cache_write_1h: 2, output: 2 },
  markup_multiplier: '1.5',
  context_tokens: 128_000,
  max_output_tokens: 32_000,
  supports_tools: true,
})

after(async () => {
  await gateway.stop()
  await sandbox.close()
})

/** A conversation that says the same in every format. */
function bodyOf(format: Format, model: string, isStream: boolean): Record<string, unknown> {
  const turns = [
    { role: 'user', content: 'Olá, catraca!' },
    { role: 'assistant', content: 'Olá! Em que posso ajudar?' },
    { role: 'user', content: 'Conte as três partes de uma catraca.' },
  ]
  const system = 'Seja breve.'
  if (format === 'messages')
    return { model, max_tokens: 2_000, system, messages: turns, stream: isStream }
  if (format === 'responses')
    return { model, max_output_tokens: 2_000, instructions: system, input: turns, stream: isStream }
  const messages = [{ role: 'system', content: system }, ...turns]
  return { model, max_tokens: 2_000, messages, stream: isStream }
}

const PATHS = { chat: '/chat/completions', messages: '/messages', responses: '/responses' } as const

function askIn(format: Format, body: unknown): Promise<Asked> {
  return ask(gateway.node.baseUrl, PATHS[format], {
    body,
    headers: { authorization: `Bearer ${gateway.secret}` },
  })
}

/** The last response or message of an answer in the format, whether plain or streamed. */
function wholeOf(format: Format, answer: Asked, isStream: boolean): any {
  if (!isStream) return answer.json
  if (format === 'messages') return accumulateMessage(answer.text).message
  return responseEvents(answer.text).at(-1)?.response
}

function textOf(format: Format, { text, json }: Asked, isStream: boolean): string {
  if (format === 'chat') {
    if (!isStream) return json.choices[0].message.content
    return text
      .split('\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice('data: '.length)).choices[0]?.delta?.content ?? '')
      .join('')
  }
  const whole = wholeOf(format, { text, json } as Asked, isStream)
  const parts =
    format === 'messages' ? whole.content : whole.output.flatMap(({ content = [] }: any) => content)
  return parts.map(({ text = '' }: any) => text).join('')
}

test("each client's format over each upstream's has the same answer, tokens and charge", async () => {
  for (const name of ['chat', 'reasoning', 'cached'] as const) {
    const seen = new Set<string>()
    for (const client of UPSTREAMS)
      for (const route of UPSTREAMS)
        for (const isStream of [false, true])
          seen.add(await chargedFor(client, route, name, isStream))
    assert.equal(seen.size, 1, [...seen].join('\n'))
  }
})

/** What one call has of its answer, tokens and charge, which are those that the upstream counts. */
async function chargedFor(
  client: Format,
  route: Format,
  name: string,
  isStream: boolean,
): Promise<string> {
  const before = { ...sandbox.counts }
  const answer = await askIn(client, bodyOf(client, `${route}-${name}`, isStream))
  const pair = `${client} over ${route}, ${isStream ? 'streamed' : 'plain'}`
  assert.equal(answer.status, 200, `${pair}: ${answer.text}`)
  const event = await theOutcome(gateway, answer.requestId)
  assert.deepEqual([event.outcome, event.usage_kind], ['charged', 'exact'], pair)
  const { prompt_tokens, completion_tokens, cost_billed_nano_brl: cost } = event
  assert.equal(prompt_tokens, sandbox.counts.promptTokens - before.promptTokens, pair)
  assert.equal(completion_tokens, sandbox.counts.completionTokens - before.completionTokens, pair)
  const text = textOf(client, answer, isStream)
  assert.notEqual(text, '', pair)
  assert.doesNotMatch(answer.text, /sandbox-|toolu_|encrypted:/, pair)
  return JSON.stringify([prompt_tokens, completion_tokens, String(cost), text])
}

const TOOL = {
  name: 'olhar',
  description: 'Olha.',
  parameters: { type: 'object', properties: { onde: { type: 'string' } }, required: ['onde'] },
}

test('messages over messages: thinking and its signature go back with the result of a tool', async () => {
  for (const isStream of [false, true]) {
    const { name, description, parameters: input_schema } = TOOL
    const body = {
      model: 'messages-reasoning',
      max_tokens: 4_000,
      thinking: { type: 'enabled', budget_tokens: 2_000 },
      tools: [{ name, description, input_schema }],
      messages: [{ role: 'user', content: 'Olhe.' }],
      stream: isStream,
    }
    const first = wholeOf('messages', await askIn('messages', body), isStream)
    const [thinking, use] = first.content
    assert.deepEqual([thinking.type, use.type], ['thinking', 'tool_use'])
    assert.equal(first.stop_reason, 'tool_use')
    const back = (content: unknown): Promise<Asked> =>
      askIn('messages', {
        ...body,
        messages: [
          ...body.messages,
          { role: 'assistant', content },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content: 'vi' }] },
        ],
      })
    const second = wholeOf('messages', await back(first.content), isStream)
    assert.equal(second.stop_reason, 'end_turn')
    // The upstream knows its own signature.
    const forged = await back([{ ...thinking, thinking: `${thinking.thinking} ` }, use])
    assert.equal(forged.status, 400)
  }
})

test('chat over each upstream: what others would refuse of its conversations is answered', async () => {
  const tool = { type: 'function', function: TOOL }
  const named = { type: 'function', function: { name: TOOL.name } }
  const call = (text: unknown): object => ({
    role: 'assistant',
    content: null,
    tool_calls: [
      { id: 'call_1', type: 'function', function: { name: TOOL.name, arguments: text } },
    ],
  })
  const result = { role: 'tool', tool_call_id: 'call_1', content: 'vi' }
  const question = { role: 'user', content: 'Olhe.' }
  const cases: Record<string, object> = {
    'arguments that a model wrote wrongly': { messages: [question, call('{"onde":'), result] },
    'arguments as an object': { messages: [question, call({ onde: 'ali' }), result] },
    'instructions alone': { messages: [{ role: 'system', content: 'Conte até três.' }], tools: [] },
    'a choice among allowed tools': {
      messages: [question],
      tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [named] } },
    },
  }
  for (const [name, fields] of Object.entries(cases))
    for (const route of UPSTREAMS)
      for (const isStream of [false, true]) {
        const body = { model: `${route}-chat`, tools: [tool], ...fields, stream: isStream }
        const answer = await askIn('chat', body)
        assert.equal(answer.status, 200, `${name} over ${route}: ${answer.text}`)
        assert.equal((await theOutcome(gateway, answer.requestId)).usage_kind, 'exact')
      }
})

test('custom tools of chat completions are called with a text', async () => {
  const body = {
    model: 'chat-chat',
    messages: [{ role: 'user', content: 'Olhe.' }],
    tools: [{ type: 'custom', custom: { name: 'olhar' } }],
  }
  const { json } = await askIn('chat', body)
  const [call] = json.choices[0].message.tool_calls
  assert.deepEqual([call.type, call.custom.name, call.custom.input], ['custom', 'olhar', 'entrada'])
  const streamed = await askIn('chat', { ...body, stream: true })
  assert.match(streamed.text, /"custom":\{"name":"olhar","input":""\}/)
  assert.match(streamed.text, /"custom":\{"input":"/)
})

test('messages over messages: five minutes, an hour and reads of the cache have their own prices', async () => {
  const mark = (ttl?: string): object => ({
    cache_control: { type: 'ephemeral', ...(ttl === undefined ? {} : { ttl }) },
  })
  const body = {
    model: 'messages-chat',
    max_tokens: 2_000,
    system: [{ type: 'text', text: 'Uma instrução longa. '.repeat(20), ...mark('1h') }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Um contexto. '.repeat(9), ...mark() }] },
    ],
  }
  for (const isStream of [false, true]) {
    const answer = await askIn('messages', { ...body, stream: isStream })
    const { usage } = wholeOf('messages', answer, isStream)
    const { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: hour } =
      usage.cache_creation
    assert.ok(short > 0 && hour > 0)
    assert.equal(usage.cache_creation_input_tokens, short + hour)
    const usd = plus(
      perMillion(usage.input_tokens, '1'),
      perMillion(short, '1.25'),
      perMillion(hour, '2'),
      perMillion(usage.output_tokens, '2'),
    )
    const event = await theOutcome(gateway, answer.requestId)
    assert.equal(event.cost_billed_nano_brl, nanoBrl(usd, '5.2', '1.5'))
    assert.equal(event.prompt_tokens, usage.input_tokens + short + hour)
  }
})

test('responses over responses: encrypted reasoning goes back with the result of a tool', async () => {
  for (const isStream of [false, true]) {
    const body = {
      model: 'responses-reasoning',
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'low' },
      tools: [{ type: 'function', ...TOOL, strict: false }],
      store: false,
      stream: isStream,
    }
    const input = [{ role: 'user', content: 'Olhe.' }]
    const first = wholeOf('responses', await askIn('responses', { ...body, input }), isStream)
    assert.deepEqual(
      first.output.map(({ type }: { type: string }) => type),
      ['reasoning', 'function_call'],
    )
    const [reasoning, call] = first.output
    // Natively it is the upstream's own.
    assert.match(reasoning.encrypted_content, /^encrypted:/)
    const result = { type: 'function_call_output', call_id: call.call_id, output: 'vi' }
    const next = { ...body, input: [...input, ...first.output, result] }
    const second = await askIn('responses', next)
    assert.equal(second.status, 200, second.text)
    assert.equal(wholeOf('responses', second, isStream).output.at(-1).type, 'message')
  }
})

test('a stream that breaks upstream ends with the error of the format, and its delivered part is charged', async () => {
  for (const name of ['cut-stream', 'error-in-stream'])
    for (const format of ['messages', 'responses'] as const) {
      const answer = await askIn(format, bodyOf(format, `${format}-${name}`, true))
      assert.match(answer.text, format === 'messages' ? /event: error\n/ : /event: response.failed/)
      const event = await theOutcome(gateway, answer.requestId)
      assert.doesNotMatch(answer.text, /zephyrion|sandbox-/i)
      if (event.outcome === 'charged') assert.equal(event.usage_kind, 'estimated')
      else assert.equal(event.outcome, 'released')
    }
  for (const format of ['messages', 'responses'] as const) {
    const refused = await askIn(format, bodyOf(format, `${format}-error-500`, false))
    assert.equal(refused.status, 502)
    assert.doesNotMatch(refused.text, /zephyrion/i)
  }
})

test('natively, a client that hangs up in the middle pays the reported usage', async () => {
  for (const format of ['messages', 'responses'] as const) {
    const requestId = randomUUID()
    const leaving = new AbortController()
    const response = await fetch(`${gateway.node.baseUrl}${PATHS[format]}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.secret}`,
        'content-type': 'application/json',
        'x-svc-request-id': requestId,
      },
      body: JSON.stringify(bodyOf(format, `${format}-long`, true)),
      signal: leaving.signal,
    })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const decoder = new TextDecoder()
    for (let text = ''; text.split('.delta"').length + text.split('_delta"').length < 8;) {
      const { done, value } = await reader.read()
      assert.ok(!done)
      text += decoder.decode(value, { stream: true })
    }
    leaving.abort()
    const event = await theOutcome(gateway, requestId)
    assert.deepEqual([event.outcome, event.usage_kind], ['charged', 'exact'], format)
    assert.equal(event.completion_tokens, 400)
  }
})

test('natively, an upstream that falls silent before any output costs nothing', async () => {
  for (const format of ['messages', 'responses'] as const) {
    const answer = await askIn(format, bodyOf(format, `${format}-stall`, true))
    assert.notEqual(answer.status, 200)
    assert.equal((await theOutcome(gateway, answer.requestId)).outcome, 'released')
  }
})

test('a route that fails natively is followed by the next one, translated', async () => {
  for (const format of ['messages', 'responses'] as const)
    for (const isStream of [false, true]) {
      const answer = await askIn(format, bodyOf(format, `${format}-two-routes`, isStream))
      assert.equal(answer.status, 200, answer.text)
      assert.notEqual(textOf(format, answer, isStream), '')
      assert.equal((await theOutcome(gateway, answer.requestId)).usage_kind, 'exact')
    }
})

test('after all of these calls nothing is held, and the audit is clean', async () => {
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
})
