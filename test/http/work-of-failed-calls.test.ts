// deep: an attack
/** Calls that a customer's own request makes fail after an upstream has done, and billed, their work. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { ask, askChat, sound, type Asked } from '../harness/ask.ts'
import { assertRefusal } from '../harness/assert-answer.ts'
import { untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  eventOf,
  good,
  GOOD_USAGE,
  hang,
  startScriptedUpstream,
  type Behaviour,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { SMALL_OUTPUT_TOKENS, UNPAID_WORK } from '../../src/gateway/calls/call-upstream.ts'
import { resolutionsOf, type UsageEvent } from './resolutions-of.ts'

const LIMIT_MS = 1_500
const MEGABYTE = 1024 * 1024
/** Gemini's limit of texts in one request. */
const BATCH_TEXTS = 100

/** As Gemini ends a turn whose tool call it could not write; it bills what it thought and wrote. */
const MALFORMED_CALL = {
  candidates: [{ index: 0, content: {}, finishReason: 'MALFORMED_FUNCTION_CALL' }],
  usageMetadata: {
    promptTokenCount: 10,
    candidatesTokenCount: 500,
    thoughtsTokenCount: 20_000,
    totalTokenCount: 20_510,
  },
}

let upstream: ScriptedUpstream
let gemini: Server
let embeddedTexts = 0
let config: ConfigFile
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  gemini = createServer(async (request, response) => {
    if (request.url?.includes(':generateContent'))
      return void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(MALFORMED_CALL))
    // A single text has another shape of request; here that is the one that is refused.
    const { requests } = JSON.parse(String(await buffer(request))) as { requests?: object[] }
    embeddedTexts += requests?.length ?? 0
    const embeddings = requests?.map(() => ({ values: [0.5, 0.5] }))
    response
      .writeHead(requests ? 200 : 400, { 'content-type': 'application/json' })
      .end(JSON.stringify(requests ? { embeddings } : { error: { message: 'too long' } }))
  }).listen(0, '127.0.0.1')
  await once(gemini, 'listening')
  const route = (id: string, firstByteMs = LIMIT_MS) => ({
    id,
    kind: 'openai-compatible',
    base_url: upstream.baseUrl,
    retries: 0,
    first_byte_timeout_ms: firstByteMs,
    idle_timeout_ms: LIMIT_MS,
  })
  const prices = { input: 1, output: 2 }
  config = await writeConfigFile({
    upstreams: [
      route('first'),
      route('second'),
      route('third'),
      route('patient', 10 * LIMIT_MS),
      {
        id: 'gemini',
        kind: 'google',
        base_url: `http://127.0.0.1:${(gemini.address() as AddressInfo).port}/v1beta`,
        api_key_env: 'TEST_GEMINI_KEY',
        retries: 0,
      },
    ],
    models: [
      ...['large', 'slow', 'brief', 'spare', 'idle'].map((id) => ({
        id,
        category: 'llm',
        prices,
        routes: ['first', 'second'].map((upstream) => ({ upstream, model: id })),
        max_output_tokens: 100_000,
      })),
      {
        id: 'silent',
        category: 'llm',
        prices,
        routes: ['patient', 'second'].map((upstream) => ({ upstream, model: 'silent' })),
        max_output_tokens: 100_000,
      },
      ...[
        { id: 'thinking', upstream: 'gemini', model: 'gemini-2.5-flash' },
        { id: 'shared', upstream: 'third', model: 'shared' },
      ].map(({ id, ...route }) => ({
        id,
        category: 'llm',
        prices,
        routes: [route],
        max_output_tokens: 60_000,
      })),
      {
        id: 'vectors',
        category: 'embedding',
        prices: { input: 1 },
        routes: [{ upstream: 'gemini', model: 'gemini-embedding-001' }],
        embedding: { dimensions: 2 },
      },
    ],
  } as never)
  gateway = await startGateway({ CATRACA_CONFIG: config.path, TEST_GEMINI_KEY: 'test' })
})

after(async () => {
  await gateway.stop()
  await upstream.close()
  gemini.close()
  await config.remove()
})

async function chargeOf(requestId: string): Promise<bigint> {
  await untilNoHoldIsOpen(gateway.database)
  const { cost_billed_nano_brl: billed } = await gateway.database.db
    .selectFrom('usage_events')
    .select('cost_billed_nano_brl')
    .where('request_id', '=', requestId)
    .executeTakeFirstOrThrow()
  return billed
}

/** An answer with the probabilities of many tokens, as `top_logprobs` asks for them. */
const largeAnswer: Behaviour = (_call, response) => {
  const choices = [
    { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'a' } },
  ]
  const usage = { prompt_tokens: 20, completion_tokens: 60_000, total_tokens: 60_020 }
  const head = JSON.stringify({ choices, usage })
  response.writeHead(200, { 'content-type': 'application/json' })
  response.write(`${head.slice(0, -1)},"padding":"`)
  let megabytes = 0
  const writeOn = (): void => {
    while (megabytes++ < 65)
      if (!response.write('a'.repeat(MEGABYTE))) return void response.once('drain', writeOn)
    response.end('"}')
  }
  writeOn()
}

/** The only resolution of a call, which charged nothing. */
async function releaseOf(requestId: string): Promise<{ reason: string | null }> {
  await untilNoHoldIsOpen(gateway.database)
  const events = await resolutionsOf(gateway.database, requestId)
  assert.equal(events.length, 1)
  const [event] = events as [UsageEvent]
  assert.deepEqual([event.outcome, event.cost_billed_nano_brl], ['released', 0n])
  return event
}

test('a plain answer that its own logprobs could make too long is refused before it is sent', async () => {
  upstream.play('large', largeAnswer)
  for (const more of [{ n: 4 }, { max_tokens: 20_000 }]) {
    const body = sound('large', { logprobs: true, top_logprobs: 20, ...more })
    const answer = await askChat(gateway.node.baseUrl, gateway.secret, body)
    assert.equal(answer.status, 400, answer.text)
    assert.match(answer.json.error.message, /"top_logprobs".*"stream": true/)
  }
  assert.equal(upstream.callsOf('large').length, 0)
})

test('a plain answer beyond 64 MB ends the call: no other route or model generates it again', async () => {
  upstream.play('large', largeAnswer)
  const body = sound('large', { models: ['spare'] })
  const { requestId, status, json } = await askChat(gateway.node.baseUrl, gateway.secret, body)
  assert.equal(status, 502)
  assert.match(json.error.message, /"stream": true/)
  assert.equal(upstream.callsOf('large').length, 1)
  assert.equal(upstream.callsOf('spare').length, 0)
  assert.equal((await releaseOf(requestId)).reason, 'answer_too_long')
})

test('a plain call whose output takes longer than the time limit is not sent to a second upstream', async () => {
  upstream.play('slow', hang)
  // At 20 tokens per second 60 tokens take twice the limit.
  for (const [index, max_tokens] of [100_000, 60, undefined].entries()) {
    const body = sound('slow', { n: 128, models: ['spare'], max_tokens })
    const { requestId, status, json } = await askChat(gateway.node.baseUrl, gateway.secret, body)
    assert.equal(status, 502)
    assert.match(json.error.message, /"stream": true/)
    assert.equal(upstream.callsOf('slow').length, index + 1)
    assert.equal((await releaseOf(requestId)).reason, 'first_byte_timeout')
  }
  assert.equal(upstream.callsOf('spare').length, 0)
})

test('a plain call that any upstream answers within the time limit is sent to the second one', async () => {
  upstream.play('brief', hang, good)
  const body = sound('brief', { max_tokens: 29 })
  const { status } = await askChat(gateway.node.baseUrl, gateway.secret, body)
  assert.equal(status, 200)
  assert.equal(upstream.callsOf('brief').length, 2)
})

/** As a reasoning model of OpenAI: the head at once, and nothing more until the first word. */
const silentFirst: Behaviour = (_call, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
  setTimeout(() => {
    const done = {
      choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop' }],
      usage: GOOD_USAGE,
    }
    response.end(`${eventOf(done)}data: [DONE]\n\n`)
  }, 2 * LIMIT_MS)
}

test('a stream whose model reasons in silence for longer than the idle time limit is answered', async () => {
  upstream.play('silent', silentFirst)
  const body = sound('silent', { stream: true, reasoning_effort: 'high' })
  const { status } = await askChat(gateway.node.baseUrl, gateway.secret, body)
  assert.equal(upstream.callsOf('silent').length, 1)
  assert.equal(status, 200)
})

test('a plain answer whose head comes at once, and its body after the idle time limit, is answered', async () => {
  upstream.play('silent', (_call, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write(' \n')
    setTimeout(() => {
      const message = { role: 'assistant', content: 'a' }
      const choices = [{ index: 0, finish_reason: 'stop', message }]
      response.end(JSON.stringify({ choices, usage: GOOD_USAGE }))
    }, 2 * LIMIT_MS)
  })
  const before = upstream.callsOf('silent').length
  const { status } = await askChat(gateway.node.baseUrl, gateway.secret, sound('silent'))
  assert.equal(upstream.callsOf('silent').length, before + 1)
  assert.equal(status, 200)
})

async function embed(input: readonly string[]): Promise<Asked> {
  embeddedTexts = 0
  const body = { model: 'vectors', input }
  return ask(gateway.node.baseUrl, '/embeddings', { secret: gateway.secret, body })
}

test('embeddings with a text that is too long are refused before another batch is sent', async () => {
  const texts = Array.from({ length: 5 * BATCH_TEXTS }, () => randomUUID())
  const { requestId, status } = await embed([...texts, 'too long '.repeat(1_000)])
  assert.equal(status, 400)
  assert.equal(embeddedTexts, 0)
  assert.equal((await releaseOf(requestId)).reason, 'refused_request')
})

test('embeddings whose last batch is refused charge nothing, and the log shows the batches that were answered', async () => {
  const texts = Array.from({ length: 5 * BATCH_TEXTS }, () => randomUUID())
  const { requestId, status } = await embed([...texts, 'refused'])
  assert.equal(status, 400)
  assert.ok(embeddedTexts >= BATCH_TEXTS, `${embeddedTexts} texts were embedded`)
  assert.equal((await releaseOf(requestId)).reason, 'refused_request')
  const shown = /"upstream_failed".*"[1-5] of 6 batches were answered and are not charged; 400/
  assert.ok(gateway.node.log.some((line) => shown.test(line)))
})

// The operator pays it: docs/decisions.md.
test('a turn that ends with a malformed tool call is refused and costs the customer nothing', async () => {
  const body = sound('thinking')
  const { requestId, status } = await askChat(gateway.node.baseUrl, gateway.secret, body)
  assert.equal(status, 502)
  assert.equal(await chargeOf(requestId), 0n)
})

test('long calls of one customer that reach the time limit do not close the route for the others', async () => {
  const { baseUrl } = gateway.node
  upstream.play('shared', hang)
  const long = sound('shared', { n: 128, max_tokens: 60_000 })
  await Promise.all([1, 2, 3, 4, 5].map(() => askChat(baseUrl, gateway.secret, long)))
  upstream.play('shared', good)
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '10' })
  assert.equal((await askChat(baseUrl, secret, sound('shared'))).status, 200)
})

test('a customer with many plain answers that were too slow gets streams and small answers only', async () => {
  upstream.play('idle', hang)
  const { baseUrl } = gateway.node
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '1000' })
  const large = (more: object = {}) => askChat(baseUrl, secret, sound('idle', more))
  const slow = await Promise.all(Array.from({ length: UNPAID_WORK.max }, () => large()))
  for (const { status } of slow) assert.equal(status, 502)
  const sent = upstream.callsOf('idle').length
  const refused = await large()
  assertRefusal(refused, 429, 'rate_limit_exceeded')
  assert.match(refused.json.error.message, /"stream": true/)
  assert.equal((await releaseOf(refused.requestId)).reason, 'unpaid_work')
  assert.equal(upstream.callsOf('idle').length, sent, 'no upstream worked for it')
  upstream.play('idle', good)
  assert.equal((await large({ stream: true })).status, 200)
  assert.equal((await large({ max_tokens: SMALL_OUTPUT_TOKENS })).status, 200)
  const other = await seedCustomer(gateway.database.db, { balanceBrl: '1000' })
  assert.equal((await askChat(baseUrl, other.secret, sound('idle'))).status, 200)
})
