/** Chats in the Messages format over real sockets: answers, streams, tools, thinking, refusals, and their charges. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { decimalBrl } from '../../src/platform/lib/money.ts'
import {
  startSandboxUpstream,
  type SandboxUpstream,
} from '../../src/sandbox/upstream/start-sandbox-upstream.ts'
import { accumulateMessage, messageEvents } from '../harness/accumulate-message.ts'
import { ask, askChat, billedIn, sound, type Asked } from '../harness/ask.ts'
import {
  assertHeaders,
  assertMessagesRefusal,
  assertNoTrace,
  assertSpoken,
} from '../harness/assert-answer.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { PNG_BASE64 } from '../harness/generate-messages-conversation.ts'
import {
  configured,
  nanoBrl,
  outcomesOf,
  perMillion,
  plus,
  theOutcome,
} from '../harness/media-calls.ts'
import {
  cutInTheMiddle,
  eventOf,
  startScriptedUpstream,
  type Behaviour,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'

let gateway: TestGateway
let sandbox: SandboxUpstream
let scripted: ScriptedUpstream

before(async () => {
  ;[sandbox, scripted] = await Promise.all([startSandboxUpstream(), startScriptedUpstream()])
  // Its tokenizer is loaded by the first chat.
  await askChat(new URL(sandbox.baseUrl).origin, undefined, sound('sandbox-chat', {}))
  gateway = await startGateway(configured(catalog()))
})

after(async () => {
  await gateway.stop()
  await Promise.all([sandbox.close(), scripted.close()])
})

const MODELS_OF_SANDBOX = [
  'chat',
  'long',
  'reasoning',
  'cached',
  'cut-stream',
  'error-400',
  'error-429',
  'error-500',
  'error-503',
]

function catalog(): object {
  const upstream = (id: string, baseUrl: string): object => ({
    id,
    kind: 'openai-compatible',
    base_url: baseUrl,
    cancel_stops_billing: true,
    retries: 0,
    breaker: { failures: 0 },
  })
  const model = (id: string, route: object): object => ({
    id,
    category: 'llm',
    prices: { input: 1, cached_input: '0.25', cache_write: '1.25', output: 2, reasoning: 2 },
    markup_multiplier: '1.5',
    routes: [route],
    context_tokens: 128_000,
    max_output_tokens: 32_000,
    supports_tools: true,
    image_tokens_max: 2_000,
  })
  return {
    upstreams: [upstream('own', sandbox.baseUrl), upstream('scripted', scripted.baseUrl)],
    models: [
      ...MODELS_OF_SANDBOX.map((name) =>
        model(name, { upstream: 'own', model: `sandbox-${name}` }),
      ),
      ...['signing', 'caching', 'breaking', 'limited'].map((name) =>
        model(name, { upstream: 'scripted', model: name }),
      ),
    ],
  }
}

/** At the prices above, with the rate and the markup of these tests. */
function billOf(tokens: { fresh: number; read?: number; written?: number; out: number }): bigint {
  const { fresh, read = 0, written = 0, out } = tokens
  const usd = plus(
    perMillion(fresh, '1'),
    perMillion(read, '0.25'),
    perMillion(written, '1.25'),
    perMillion(out, '2'),
  )
  return nanoBrl(usd, '5.2', '1.5')
}

const HELLO = [{ role: 'user', content: 'Olá, catraca!' }]
const question = (model: string, more: object = {}): Record<string, unknown> => ({
  model,
  max_tokens: 2_000,
  messages: HELLO,
  ...more,
})

function askMessage(
  body: unknown,
  options: { secret?: string; path?: string } = {},
): Promise<Asked> {
  const { secret = gateway.secret, path = '/messages' } = options
  return ask(gateway.node.baseUrl, path, {
    body,
    headers: { 'x-api-key': secret, 'anthropic-version': '2023-06-01' },
  })
}

/** The charge of an answer is the count of its own usage, and the last amount that the client sees. */
async function assertCharged(answer: Asked, usage: any): Promise<void> {
  const event = await theOutcome(gateway, answer.requestId)
  assert.equal(event.outcome, 'charged')
  assert.equal(event.usage_kind, 'exact')
  const {
    input_tokens: fresh,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
    output_tokens: out,
  } = usage
  assert.equal(event.prompt_tokens, fresh + read + written)
  assert.equal(event.completion_tokens, out)
  assert.equal(event.cost_billed_nano_brl, billOf({ fresh, read, written, out }))
  assert.equal(billedIn(answer.text), decimalBrl(event.cost_billed_nano_brl))
}

test('an answer is a message of the format, charged by the count of the upstream', async () => {
  const before = { ...sandbox.counts }
  const answer = await askMessage(question('chat'))
  assert.equal(answer.status, 200, answer.text)
  assertHeaders(answer, answer.requestId)
  assertNoTrace(answer)
  const { id, type, role, model, content, stop_reason, stop_sequence, usage } = answer.json
  assert.match(id, /^msg_/)
  assert.deepEqual(
    [type, role, model, stop_reason, stop_sequence],
    ['message', 'assistant', 'chat', 'end_turn', null],
  )
  assert.equal(content.length, 1)
  assert.match(content[0].text, /Olá, catraca!/)
  await assertCharged(answer, usage)
  assert.equal(sandbox.counts.promptTokens - before.promptTokens, usage.input_tokens)
  assert.equal(sandbox.counts.completionTokens - before.completionTokens, usage.output_tokens)
})

/** Reasoning that its upstream does not sign has a seal for a signature, which is never twice the same. */
function dropOwnSignatures(content: any[]): void {
  for (const block of content) {
    if (block.type !== 'thinking') continue
    assert.match(block.signature, /^[\w-]{60,}$/)
    delete block.signature
  }
}

test('a stream accumulates to the plain answer, and costs the same', async () => {
  for (const model of ['chat', 'reasoning', 'cached']) {
    const plain = await askMessage(question(model))
    const answer = await askMessage(question(model, { stream: true }))
    assert.equal(answer.status, 200)
    assert.match(answer.headers.get('content-type') ?? '', /^text\/event-stream/)
    assertHeaders(answer, answer.requestId)
    assertNoTrace(answer)
    const { message } = accumulateMessage(answer.text)
    const { id: plainId, ...expected } = plain.json
    const { id, ...streamed } = message
    assert.notEqual(id, plainId)
    for (const made of [streamed, expected]) dropOwnSignatures(made.content)
    assert.deepEqual(streamed, expected)
    await assertCharged(plain, plain.json.usage)
    await assertCharged(answer, message.usage)
  }
})

const TOOLS = [
  {
    name: 'clima',
    description: 'O tempo de uma cidade.',
    input_schema: {
      type: 'object',
      properties: { cidade: { type: 'string' } },
      required: ['cidade'],
    },
  },
  { name: 'mares', input_schema: { type: 'object', properties: {} } },
]

test('tools are called, one or in parallel, plain and streamed, and their results are answered', async () => {
  const asked = [{ role: 'user', content: 'Em paralelo: o tempo e a maré no Recife.' }]
  const body = question('chat', { messages: asked, tools: TOOLS })
  const plain = (await askMessage(body)).json
  const streamed = accumulateMessage((await askMessage({ ...body, stream: true })).text).message
  for (const { content, stop_reason: reason } of [plain, streamed]) {
    assert.equal(reason, 'tool_use')
    assert.deepEqual(
      content.map(({ type, name }: any) => [type, name]),
      [
        ['tool_use', 'clima'],
        ['tool_use', 'mares'],
      ],
    )
    assert.equal(typeof content[0].input.cidade, 'string')
    const results = content.map(({ id }: any, index: number) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: [{ type: 'text', text: index === 0 ? 'sol e 29 graus' : 'maré baixa' }],
    }))
    const messages = [...asked, { role: 'assistant', content }, { role: 'user', content: results }]
    const answered = await askMessage({ ...body, messages })
    assert.equal(answered.json.stop_reason, 'end_turn', answered.text)
    assert.match(answered.json.content[0].text, /maré baixa/)
    await assertCharged(answered, answered.json.usage)
  }
  const forced = await askMessage({ ...body, tool_choice: { type: 'tool', name: 'clima' } })
  for (const { name } of forced.json.content) assert.equal(name, 'clima')
})

test('images reach the model', async () => {
  const source = { type: 'base64', media_type: 'image/png', data: PNG_BASE64 }
  const content = [
    { type: 'text', text: 'O que há na foto?' },
    { type: 'image', source },
  ]
  const answer = await askMessage(question('chat', { messages: [{ role: 'user', content }] }))
  assert.match(answer.json.content[0].text, /Recebi também o seu anexo/)
})

/** Characters that a careless translation changes: line separators, surrogates, escapes, white space at the ends. */
const SIGNATURE = ' ErUB\u2028\u00e9\u{1f600}\\u00e9\t"/+=\u0000\n '
const THINKING = ' Penso\u2029 \u{1f914}\r\nlogo\u00a0existo.\\n '

const signing: Behaviour = ({ body }, response) => {
  const details = [
    { type: 'reasoning.text', text: THINKING, signature: SIGNATURE, index: 0 },
    { type: 'reasoning.encrypted', data: SIGNATURE, index: 1 },
  ]
  const usage = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 }
  if (body.stream !== true) {
    const message = {
      role: 'assistant',
      content: 'Pronto.',
      reasoning_content: THINKING,
      reasoning_details: details,
    }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    return void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ choices, usage }))
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const write = (delta: object, reason: string | null = null): void =>
    void response.write(eventOf({ choices: [{ index: 0, delta, finish_reason: reason }] }))
  for (const character of THINKING) write({ reasoning_content: character })
  for (const detail of details) write({ reasoning_details: [detail] })
  write({ content: 'Pronto.' })
  write({}, 'stop')
  response.end(`${eventOf({ choices: [], usage })}data: [DONE]\n\n`)
}

test('thinking has its signature, and goes back to the upstream byte for byte', async () => {
  scripted.play('signing', signing)
  const plain = (await askMessage(question('signing'))).json
  const streamed = accumulateMessage(
    (await askMessage(question('signing', { stream: true }))).text,
  ).message
  const blocks = [
    { type: 'thinking', thinking: THINKING, signature: SIGNATURE },
    { type: 'redacted_thinking', data: SIGNATURE },
    { type: 'text', text: 'Pronto.' },
  ]
  for (const { content } of [plain, streamed]) {
    assert.deepEqual(content, blocks)
    const messages = [...HELLO, { role: 'assistant', content }, ...HELLO]
    assert.equal((await askMessage(question('signing', { messages }))).status, 200)
    const sent = scripted.callsOf('signing').at(-1)?.body.messages[1]
    assert.deepEqual(sent.reasoning_details, [
      { type: 'reasoning.text', text: THINKING, signature: SIGNATURE },
      { type: 'reasoning.encrypted', data: SIGNATURE },
    ])
  }
})

test('tokens of the cache are apart from the input, and each is charged once at its own price', async () => {
  scripted.play('caching', ({ body }, response) => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 10,
      total_tokens: 110,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
    }
    const part = { role: 'assistant', content: 'Pronto.' }
    if (body.stream !== true) {
      const choices = [{ index: 0, message: part, finish_reason: 'stop' }]
      return void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ choices, usage }))
    }
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(
        `${eventOf({ choices: [{ index: 0, delta: part, finish_reason: 'stop' }] })}${eventOf({ choices: [], usage })}data: [DONE]\n\n`,
      )
  })
  const mark = { cache_control: { type: 'ephemeral' } }
  const system = [{ type: 'text', text: 'Seja breve.', ...mark }]
  const plain = await askMessage(question('caching', { system }))
  const streamed = await askMessage(question('caching', { system, stream: true }))
  for (const [answer, message] of [
    [plain, plain.json],
    [streamed, accumulateMessage(streamed.text).message],
  ] as const) {
    assert.deepEqual(message.usage, {
      input_tokens: 10,
      cache_creation_input_tokens: 30,
      cache_creation: { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 0 },
      cache_read_input_tokens: 60,
      output_tokens: 10,
    })
    await assertCharged(answer, message.usage)
  }
})

test('each refusal has the format, its type and the id of the request', async () => {
  const poor = (await seedCustomer(gateway.database.db, { balanceBrl: '0' })).secret
  const narrow = (await seedCustomer(gateway.database.db, { balanceBrl: '10', modelIds: ['long'] }))
    .secret
  const cases: [number, string, unknown, { secret?: string; path?: string }?][] = [
    [400, 'invalid_request', '{'],
    [400, 'invalid_request', question('chat', { max_tokens: undefined })],
    [400, 'invalid_request', question('chat', { max_tokens: 0 })],
    [400, 'invalid_request', question('chat', { messages: [] })],
    [400, 'invalid_request', question('chat', { temperature: 3 })],
    [400, 'invalid_request', question('chat', { mcp_servers: [{ url: 'https://example.com' }] })],
    [400, 'invalid_request', question('error-400')],
    [401, 'authentication_failed', question('chat'), { secret: 'sk-svc-none' }],
    [402, 'insufficient_balance', question('chat'), { secret: poor }],
    [403, 'key_model_access_denied', question('chat'), { secret: narrow }],
    [404, 'model_not_found', question('claude-99')],
    [404, 'not_found', question('chat'), { path: '/messages/unheard-of' }],
    [429, 'rate_limit_exceeded', question('error-429')],
    [502, 'upstream_error', question('error-500')],
    [503, 'service_unavailable', question('error-503')],
  ]
  for (const [status, code, body, options] of cases) {
    assertMessagesRefusal(await askMessage(body, options), status, code)
    if (typeof body === 'object')
      assertMessagesRefusal(await askMessage({ ...body, stream: true }, options), status, code)
  }
})

test('a max_tokens above the limit of the model, or above what the balance covers, is lowered', async () => {
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '0.1' })
  for (const own of [gateway.secret, secret]) {
    const answer = await askMessage(question('limited', { max_tokens: 128_000 }), { secret: own })
    assert.equal(answer.status, 200, answer.text)
    const event = await theOutcome(gateway, answer.requestId)
    assert.ok(event.cost_billed_nano_brl <= event.held_nano_brl)
  }
  const [whole, lowered] = scripted.callsOf('limited').map(({ body }) => body.max_tokens)
  assert.equal(whole, 32_000)
  assert.ok(lowered >= 64 && lowered < 8_000, String(lowered))
})

test('the key is read from each header in which clients send it, and Authorization wins', async () => {
  const { baseUrl } = gateway.node
  const { secret } = gateway
  const post = (headers: Record<string, string>): Promise<Asked> =>
    ask(baseUrl, '/messages', { body: question('chat'), headers })
  for (const name of ['x-api-key', 'api-key', 'x-goog-api-key'])
    assert.equal((await post({ [name]: secret })).status, 200, name)
  const bearer = `Bearer ${secret}`
  assert.equal((await post({ authorization: bearer, 'x-api-key': 'sk-ant-other' })).status, 200)
  const wrong = await post({ authorization: 'Bearer sk-svc-none', 'x-api-key': secret })
  assertMessagesRefusal(wrong, 401, 'authentication_failed')
  assertMessagesRefusal(await post({}), 401, 'authentication_failed')
})

test('versions, beta flags and fields that are not known here do not break a client', async () => {
  const answer = await ask(gateway.node.baseUrl, '/messages?beta=true', {
    secret: gateway.secret,
    headers: {
      'anthropic-version': '2099-01-01',
      'anthropic-beta': 'claude-code-20250219,never-heard-of-2099-01-01',
      'x-claude-code-session-id': randomUUID(),
    },
    body: question('chat', {
      metadata: { user_id: 'user_1' },
      context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
      thinking: { type: 'adaptive', display: 'omitted' },
      output_config: { effort: 'high' },
      tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }],
      never_heard_of: { x: 1 },
    }),
  })
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.json.content[0].type, 'text')
})

test('a conversation of Claude Code is a usage session; the own header wins', async () => {
  const conversation = randomUUID()
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '10' })
  const post = (headers: Record<string, string>): Promise<Asked> =>
    ask(gateway.node.baseUrl, '/messages', { secret, body: question('chat'), headers })
  for (const headers of [
    { 'x-claude-code-session-id': conversation },
    { 'x-claude-code-session-id': conversation, 'x-svc-session-id': 'minha' },
    { 'x-claude-code-session-id': 'no uuid' },
  ])
    assert.equal((await post(headers)).status, 200)
  const { json } = await ask(gateway.node.baseUrl, '/me/sessions', { secret })
  const counts = json.sessions.map((each: any) => [each.session_id, each.request_count])
  assert.deepEqual(Object.fromEntries(counts), { [conversation]: 1, minha: 1 })
})

test('a client that hangs up in the middle pays the reported usage', async () => {
  const requestId = randomUUID()
  const leaving = new AbortController()
  const response = await fetch(`${gateway.node.baseUrl}/messages`, {
    method: 'POST',
    headers: {
      'x-api-key': gateway.secret,
      'content-type': 'application/json',
      'x-svc-request-id': requestId,
    },
    body: JSON.stringify(question('long', { stream: true })),
    signal: leaving.signal,
  })
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  for (let text = ''; text.split('text_delta').length < 5;) {
    const { done, value } = await reader.read()
    assert.ok(!done)
    text += decoder.decode(value, { stream: true })
  }
  leaving.abort()
  const event = await theOutcome(gateway, requestId)
  assert.deepEqual([event.outcome, event.usage_kind], ['charged', 'exact'])
  assert.equal(event.completion_tokens, 400)
  const tokens = { fresh: event.prompt_tokens, out: 400 }
  assert.equal(event.cost_billed_nano_brl, billOf(tokens))
})

test('a stream that breaks upstream ends with an error event, and its delivered part is charged', async () => {
  scripted.play('breaking', cutInTheMiddle)
  const answer = await askMessage(question('breaking', { stream: true }))
  assert.equal(answer.status, 200)
  const { message, error } = accumulateMessage(answer.text)
  assert.equal(message.content[0].text, 'Era uma vez ')
  assert.deepEqual([error.type, error.error.type], ['error', 'api_error'])
  assertSpoken(error.error.message)
  assert.ok(!messageEvents(answer.text).some(({ name }) => name === 'message_stop'))
  const event = await theOutcome(gateway, answer.requestId)
  assert.deepEqual([event.outcome, event.reason], ['charged', 'stream_broken'])
  assert.equal(event.completion_tokens, 3)
})

test('arguments for a tool call that has ended break the stream, and end the call at the upstream', async () => {
  scripted.play('breaking', (_call, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const write = (index: number, id: string | undefined, text: string): void => {
      const call = { index, id, function: { name: 'clima', arguments: text } }
      response.write(eventOf({ choices: [{ index: 0, delta: { tool_calls: [call] } }] }))
    }
    write(0, 'a', '{"cidade":')
    response.write(eventOf({ choices: [{ index: 0, delta: { content: 'Feito.' } }] }))
    write(0, undefined, '"Recife"}')
  })
  const body = question('breaking', { stream: true, tools: TOOLS })
  const answer = await askMessage(body)
  assert.match(answer.text, /event: error\n/)
  assert.doesNotMatch(answer.text, /message_stop/)
  await scripted.callsOf('breaking').at(-1)?.gone
  assert.equal((await theOutcome(gateway, answer.requestId)).reason, 'stream_broken')
})

test('counting tokens is free, reaches no upstream, and needs no balance', async () => {
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '0' })
  const before = { ...sandbox.counts }
  const count = (body: object): Promise<Asked> =>
    askMessage(body, { secret, path: '/messages/count_tokens?beta=true' })
  const short = await count({ model: 'chat', messages: HELLO })
  assert.equal(short.status, 200, short.text)
  assertHeaders(short, short.requestId)
  assert.deepEqual(Object.keys(short.json), ['input_tokens'])
  const long = await count({
    model: 'chat',
    messages: [{ role: 'user', content: 'palavra '.repeat(1_000) }],
    tools: TOOLS,
  })
  assert.ok(short.json.input_tokens > 0 && long.json.input_tokens > 1_000)
  assertMessagesRefusal(await count({ model: 'chat' }), 400, 'invalid_request')
  assertMessagesRefusal(await count({ model: 'none', messages: HELLO }), 404, 'model_not_found')
  assert.deepEqual(await outcomesOf(gateway, short.requestId), [])
  assert.equal(sandbox.counts.requests, before.requests)
})

test('counting tokens counts against the rate limit of the key', async () => {
  const { secret } = await seedCustomer(gateway.database.db, {
    balanceBrl: '10',
    requestsPerMinute: 3,
  })
  let refused: Asked | undefined
  // The minute may end once meanwhile.
  for (let left = 7; left > 0 && refused === undefined; left--) {
    const answer = await askMessage(
      { model: 'chat', messages: HELLO },
      { secret, path: '/messages/count_tokens' },
    )
    if (answer.status !== 200) refused = answer
  }
  assertMessagesRefusal(refused as Asked, 429, 'api_key_rate_limited')
})

test('after all of these calls nothing is held, and the audit is clean', async () => {
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
})
