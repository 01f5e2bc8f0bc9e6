/** Chats in the Responses format over real sockets: answers, streams, tools, refusals, hang-ups, and their charges. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { JsonObject } from '../../src/gateway/providers/contract.ts'
import { decimalBrl } from '../../src/platform/lib/money.ts'
import {
  startSandboxUpstream,
  type SandboxUpstream,
} from '../../src/sandbox/upstream/start-sandbox-upstream.ts'
import {
  ask,
  askChat,
  billedIn,
  credentialHeaders,
  eventsOf,
  sound,
  type Asked,
} from '../harness/ask.ts'
import { assertHeaders, assertNoTrace, assertRefusal } from '../harness/assert-answer.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { configured, nanoBrl, perMillion, plus, theOutcome } from '../harness/media-calls.ts'
import { seedCustomer } from '../harness/test-database.ts'
import {
  assertResponse,
  assertStreamIsWhole,
  ofType,
  responseEvents,
  type StreamEvent,
} from '../responses/assert-response.ts'

let gateway: TestGateway
let sandbox: SandboxUpstream

before(async () => {
  sandbox = await startSandboxUpstream()
  // Its tokenizer is loaded by the first chat.
  await askChat(new URL(sandbox.baseUrl).origin, undefined, sound('sandbox-chat', {}))
  gateway = await startGateway(configured(catalog()))
})

after(async () => {
  await gateway.stop()
  await sandbox.close()
})

const MODELS = [
  'chat',
  'long',
  'reasoning',
  'cached',
  'cut-stream',
  'error-in-stream',
  'error-400',
  'error-429',
  'error-500',
]

function catalog(): object {
  const upstream = {
    id: 'counted',
    kind: 'openai-compatible',
    base_url: sandbox.baseUrl,
    cancel_stops_billing: true,
    retries: 0,
    breaker: { failures: 0 },
  }
  const models = MODELS.map((name) => ({
    id: name,
    category: 'llm',
    prices: { input: 1, cached_input: '0.25', output: 2, reasoning: 2 },
    markup_multiplier: '1.5',
    routes: [{ upstream: 'counted', model: `sandbox-${name}` }],
    context_tokens: 128_000,
    max_output_tokens: 32_000,
    supports_tools: true,
    image_tokens_max: 2_000,
  }))
  return { upstreams: [upstream], models }
}

const question = (model: string, more: object = {}): JsonObject => ({
  model,
  input: 'Olá, catraca!',
  ...more,
})

function askResponse(body: unknown, secret = gateway.secret): Promise<Asked> {
  return ask(gateway.node.baseUrl, '/responses', { secret, body })
}

interface Reported {
  readonly answer: Asked
  readonly response: JsonObject & { output: any[]; usage: any }
}

async function plain(body: JsonObject): Promise<Reported> {
  const answer = await askResponse(body)
  assert.equal(answer.status, 200, answer.text)
  assertResponse(answer.json)
  return { answer, response: answer.json }
}

async function streamed(body: JsonObject): Promise<Reported> {
  const answer = await askResponse({ ...body, stream: true })
  assert.equal(answer.status, 200, answer.text)
  assert.match(answer.headers.get('content-type') ?? '', /^text\/event-stream/)
  const response = assertStreamIsWhole(responseEvents(answer.text))
  return { answer, response: response as Reported['response'] }
}

/** The charge of an answer is its usage by the prices above, and the amount that the client sees. */
async function assertCharged({ answer, response: { usage } }: Reported): Promise<void> {
  assertHeaders(answer, answer.requestId)
  assertNoTrace(answer)
  const event = await theOutcome(gateway, answer.requestId)
  assert.equal(event.outcome, 'charged')
  assert.equal(event.usage_kind, 'exact')
  const { cached_tokens: cached } = usage.input_tokens_details
  assert.equal(event.prompt_tokens, usage.input_tokens)
  assert.equal(event.completion_tokens, usage.output_tokens)
  const usd = plus(
    perMillion(usage.input_tokens - cached, '1'),
    perMillion(cached, '0.25'),
    perMillion(usage.output_tokens, '2'),
  )
  assert.equal(event.cost_billed_nano_brl, nanoBrl(usd, '5.2', '1.5'))
  assert.equal(billedIn(answer.text), decimalBrl(event.cost_billed_nano_brl))
}

/** The output without the ids of items and the seals, which differ from call to call. */
function bare(output: readonly JsonObject[]): unknown {
  return output.map(({ id: _id, call_id: _callId, encrypted_content: _sealed, ...item }) => item)
}

test('an answer is a response of the format, charged by the count of the upstream', async () => {
  const before = { ...sandbox.counts }
  const reported = await plain(question('chat', { store: true }))
  const { id, object, status, model, output, usage, store } = reported.response
  assert.match(id as string, /^resp_/)
  assert.deepEqual([object, status, model, store], ['response', 'completed', 'chat', false])
  assert.deepEqual(
    output.map(({ type }) => type),
    ['message'],
  )
  assert.match(output[0].content[0].text, /Olá, catraca!/)
  await assertCharged(reported)
  assert.equal(sandbox.counts.promptTokens - before.promptTokens, usage.input_tokens)
  assert.equal(sandbox.counts.completionTokens - before.completionTokens, usage.output_tokens)
})

test('a stream tells the plain answer, and costs the same', async () => {
  for (const model of ['chat', 'reasoning', 'cached']) {
    const whole = await plain(question(model))
    const reported = await streamed(question(model))
    assert.deepEqual(bare(reported.response.output), bare(whole.response.output))
    assert.deepEqual(reported.response.usage, whole.response.usage)
    await assertCharged(whole)
    await assertCharged(reported)
  }
})

test('text and parts of text give equal usage', async () => {
  const asked = await plain(question('chat'))
  const input = [{ role: 'user', content: [{ type: 'input_text', text: 'Olá, catraca!' }] }]
  for (const reported of [
    await plain(question('chat', { input })),
    await streamed(question('chat', { input })),
  ])
    assert.deepEqual(reported.response.usage, asked.response.usage)
})

const TOOLS = [
  {
    type: 'function',
    name: 'clima',
    parameters: {
      type: 'object',
      properties: { cidade: { type: 'string' } },
      required: ['cidade'],
    },
  },
  { type: 'custom', name: 'nota', description: 'Anota um texto.' },
  { type: 'web_search' },
]

test('tools are called in parallel, plain and streamed, and their results are answered', async () => {
  const input = [{ role: 'user', content: 'Em paralelo: o tempo no Recife, e anote.' }]
  const body = question('chat', { input, tools: TOOLS })
  for (const reported of [await plain(body), await streamed(body)]) {
    await assertCharged(reported)
    const { output } = reported.response
    assert.deepEqual(
      output.map(({ type, name }) => [type, name]),
      [
        ['function_call', 'clima'],
        ['custom_tool_call', 'nota'],
      ],
    )
    assert.equal(typeof JSON.parse(output[0].arguments).cidade, 'string')
    assert.equal(typeof output[1].input, 'string')
    const results = output.map(({ type, call_id: id }, index) => ({
      type: `${type}_output`,
      call_id: id,
      output: index === 0 ? 'sol e 29 graus' : 'anotado às dez',
    }))
    const answered = await streamed({ ...body, input: [...input, ...output, ...results] })
    assert.match(answered.response.output.at(-1).content[0].text, /anotado às dez/)
    await assertCharged(answered)
  }
})

test('reasoning is a summary, and its seal goes back', async () => {
  const { response } = await plain(question('reasoning'))
  const [reasoning, message] = response.output
  assert.equal(reasoning.type, 'reasoning')
  assert.notEqual(reasoning.summary[0].text, '')
  assert.equal(message.type, 'message')
  const input = [
    { role: 'user', content: 'Olá' },
    ...response.output,
    { role: 'user', content: 'E?' },
  ]
  await assertCharged(await streamed(question('reasoning', { input })))
})

test('images reach the model', async () => {
  const url =
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
  const content = [
    { type: 'input_text', text: 'O que há na foto?' },
    { type: 'input_image', image_url: url, detail: 'auto' },
  ]
  const { response } = await plain(question('chat', { input: [{ role: 'user', content }] }))
  assert.match(response.output[0].content[0].text, /Recebi também o seu anexo/)
})

test('the output limit makes the response incomplete', async () => {
  for (const ask of [plain, streamed]) {
    const reported = await ask(question('chat', { max_output_tokens: 2 }))
    assert.equal(reported.response.status, 'incomplete')
    assert.deepEqual(reported.response.incomplete_details, { reason: 'max_output_tokens' })
    assert.equal(reported.response.usage.output_tokens, 2)
    await assertCharged(reported)
  }
})

test('a body of this format at /chat/completions is answered as a chat, plain and streamed', async () => {
  const body = {
    model: 'chat',
    input: [
      { role: 'system', content: 'Seja breve.' },
      { role: 'user', content: [{ type: 'input_text', text: 'Olá, catraca!' }] },
    ],
    include: ['reasoning.encrypted_content'],
    reasoning: { effort: 'medium', summary: 'auto' },
    text: { verbosity: 'low' },
    stream_options: { include_usage: true },
  }
  const same = [
    { role: 'system', content: 'Seja breve.' },
    { role: 'user', content: 'Olá, catraca!' },
  ]
  const asked = await askChat(gateway.node.baseUrl, gateway.secret, {
    model: 'chat',
    messages: same,
  })
  const whole = await askChat(gateway.node.baseUrl, gateway.secret, body)
  assert.deepEqual(whole.json.choices, asked.json.choices)
  assert.deepEqual(whole.json.usage, asked.json.usage)
  const answer = await askChat(gateway.node.baseUrl, gateway.secret, { ...body, stream: true })
  const events = eventsOf(answer.text)
  assert.equal(events.at(-1), '[DONE]')
  const chunks = events.slice(0, -1).map((event) => JSON.parse(event))
  const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')
  assert.equal(text, asked.json.choices[0].message.content)
  assert.deepEqual(chunks.at(-1).usage, asked.json.usage)
  const tools = [{ type: 'function', name: 'clima', parameters: { type: 'object' } }]
  const called = await askChat(gateway.node.baseUrl, gateway.secret, { ...body, tools })
  const [call] = called.json.choices[0].message.tool_calls
  assert.equal(call.function.name, 'clima')
  const faulty = await askChat(gateway.node.baseUrl, gateway.secret, { ...body, background: true })
  assertRefusal(faulty, 400, 'invalid_request')
})

test('refusals are in the format of errors, and cost nothing', async () => {
  const { secret, customerId } = await seedCustomer(gateway.database.db, { balanceBrl: '0.0001' })
  const refused = async (body: unknown, status: number, type: string, by = gateway.secret) =>
    assertRefusal(await askResponse(body, by), status, type)
  await refused('{', 400, 'invalid_request')
  await refused({ model: 'chat' }, 400, 'invalid_request')
  await refused(question('chat', { background: true }), 400, 'invalid_request')
  await refused(
    question('chat', { previous_response_id: 'resp_1' }),
    400,
    'previous_response_not_found',
  )
  await refused(question('chat', { temperature: 3 }), 400, 'invalid_request')
  await refused(question('chat'), 401, 'authentication_failed', 'nenhuma')
  await refused(
    question('chat', { max_output_tokens: 30_000 }),
    402,
    'insufficient_balance',
    secret,
  )
  await refused(question('nada'), 404, 'model_not_found')
  await refused(question('error-400'), 400, 'invalid_request')
  await refused(question('error-500'), 502, 'upstream_error')
  await refused(question('error-500', { stream: true }), 502, 'upstream_error')
  const charged = await gateway.database.db
    .selectFrom('usage_events')
    .selectAll()
    .where('customer_id', '=', customerId)
    .where('outcome', '=', 'charged')
    .execute()
  assert.deepEqual(charged, [])
})

test('an upstream that breaks off in mid-stream: response.failed, and the delivered output is charged', async () => {
  for (const model of ['cut-stream', 'error-in-stream']) {
    const answer = await askResponse(question(model, { stream: true }))
    assert.equal(answer.status, 200)
    const events = responseEvents(answer.text)
    assert.deepEqual(
      events.map(({ sequence_number: number }) => number),
      events.map((_event, index) => index),
    )
    assert.ok(ofType(events, 'response.output_text.delta').length > 0)
    const last = events.at(-1) as StreamEvent
    assert.equal(last.type, 'response.failed')
    assert.equal((last.response as JsonObject).status, 'failed')
    assertNoTrace(answer)
    const event = await theOutcome(gateway, answer.requestId)
    assert.equal(event.outcome, 'charged')
    assert.equal(event.usage_kind, 'estimated')
  }
})

test('a client that hangs up in mid-stream pays the count of the upstream', async () => {
  const leaving = new AbortController()
  const requestId = randomUUID()
  const before = sandbox.counts.completionTokens
  const answer = await fetch(`${gateway.node.baseUrl}/responses`, {
    method: 'POST',
    headers: {
      ...credentialHeaders(gateway.secret),
      'content-type': 'application/json',
      'x-svc-request-id': requestId,
    },
    body: JSON.stringify(question('long', { stream: true })),
    signal: leaving.signal,
  })
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
  let text = ''
  while (!text.includes('output_text.delta')) {
    const { value } = await reader.read()
    text += Buffer.from(value as Uint8Array).toString()
  }
  leaving.abort()
  const event = await theOutcome(gateway, requestId)
  assert.equal(event.outcome, 'charged')
  assert.equal(event.usage_kind, 'exact')
  assert.equal(event.completion_tokens, sandbox.counts.completionTokens - before)
})

test('the books are in balance', async () => {
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
})
