// deep: requests that no client library sends
/** What clients send, legal and awkward: limits of their own, other paths and names, compressed bodies, other origins. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import OpenAI, { APIError } from 'openai'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { decimalBrl } from '../../src/platform/lib/money.ts'
import { BY_OPERATOR, ask, askChat, billedIn, sound, type Ask, type Asked } from '../harness/ask.ts'
import { assertMessagesRefusal, assertNoTrace, assertRefusal } from '../harness/assert-answer.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  configured,
  form,
  FORM_TYPE,
  theOutcome,
  TRANSCRIPTIONS,
  wav,
} from '../harness/media-calls.ts'
import { seedCustomer } from '../harness/test-database.ts'
import {
  afterMs,
  eventOf,
  good,
  GOOD_USAGE,
  hang,
  startScriptedUpstream,
  type Behaviour,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'

const MB = 1024 * 1024
const BODY_BYTES_MAX = 4 * MB
const OUTPUT_TOKENS_MAX = 16_384

let gateway: TestGateway
let upstream: ScriptedUpstream
/** The address without `/v1`. */
let origin: string

before(async () => {
  upstream = await startScriptedUpstream()
  const model = (id: string): object => ({
    id,
    category: 'llm',
    prices: { input: 1, output: 10 },
    routes: [{ upstream: 'scripted', model: id }],
    max_output_tokens: OUTPUT_TOKENS_MAX,
  })
  const upstreams = [
    {
      id: 'scripted',
      kind: 'openai-compatible',
      base_url: upstream.baseUrl,
      retries: 0,
      breaker: { failures: 0 },
      first_byte_timeout_ms: 4_000,
      idle_timeout_ms: 4_000,
    },
  ]
  const ids = ['limited', 'slow', 'refusing', 'quiet', 'dead', 'dying', 'plain']
  gateway = await startGateway({
    ...configured({ upstreams, models: ids.map(model) }),
    BODY_BYTES_MAX: String(BODY_BYTES_MAX),
    STREAM_KEEP_ALIVE_SECONDS: '1',
  })
  origin = gateway.node.baseUrl.replace(/\/v1$/, '')
})

after(async () => {
  await gateway.stop()
  await upstream.close()
})

const chat = (body: unknown, secret = gateway.secret): Promise<Asked> =>
  askChat(gateway.node.baseUrl, secret, body)

/** One request in the format of each path. */
const FORMATS: Record<string, (model: string, more?: object) => object> = {
  '/chat/completions': (model, more) => sound(model, more),
  '/messages': (model, more) => ({ ...sound(model, more), max_tokens: 100 }),
  '/responses': (model, more) => ({ model, input: 'Olá, catraca!', ...more }),
}

async function seedPoor(balanceBrl: string): Promise<string> {
  return (await seedCustomer(gateway.database.db, { balanceBrl })).secret
}

test("a limit above the model's, or above what the balance covers, is lowered before the hold", async () => {
  const poor = await seedPoor('0.2')
  for (const secret of [gateway.secret, poor])
    for (const field of ['max_tokens', 'max_completion_tokens']) {
      const answer = await chat(sound('limited', { [field]: 128_000 }), secret)
      assert.equal(answer.status, 200, answer.text)
      const event = await theOutcome(gateway, answer.requestId)
      const sent = upstream.callsOf('limited').at(-1)?.body.max_tokens
      if (secret === gateway.secret) assert.equal(sent, OUTPUT_TOKENS_MAX)
      else assert.ok(sent >= 64 && sent < 4_000, String(sent))
      // USD 10 a million at the markup of 1.25: the hold is for what was sent, and not for what was asked.
      const ofOutput = (BigInt(sent) * 10n * 1_000n * 125n * 52n) / 1_000n
      assert.ok(event.held_nano_brl >= ofOutput, `${event.held_nano_brl} for ${sent} tokens`)
      assert.ok(event.held_nano_brl < ofOutput + 5_000_000n, `${event.held_nano_brl}`)
    }
  const absurd = await chat(sound('limited', { max_tokens: 2_000_000_000 }))
  assertRefusal(absurd, 400, 'invalid_request')
})

test('a client library waits for a balance that its other calls hold', async () => {
  upstream.play('slow', afterMs(1_000))
  // For one call of 1,000 tokens, and not for 64 more.
  const seeded = await seedPoor('0.066')
  const client = new OpenAI({ baseURL: gateway.node.baseUrl, apiKey: seeded, maxRetries: 3 })
  const body = {
    model: 'slow',
    messages: [{ role: 'user' as const, content: 'Oi' }],
    max_tokens: 1_000,
  }
  const answers = await Promise.all([
    client.chat.completions.create(body),
    client.chat.completions.create(body),
  ])
  assert.equal(answers.length, 2)
  assert.equal(upstream.callsOf('slow').length, 2)
  await untilNoHoldIsOpen(gateway.database)
})

test('model calls are found under the base addresses that clients are given', async () => {
  const get = async (path: string, more: Ask = {}): Promise<number> =>
    (await ask(origin, path, { secret: gateway.secret, ...more })).status
  for (const base of ['', '/', '/v1', '/v1/', '/v1/v1', '//v1', '/openai/v1'])
    for (const [path, body] of Object.entries(FORMATS))
      assert.equal(await get(`${base}${path}`, { body: body('plain') }), 200, base + path)
  assert.equal(await get('/models'), 200)
  assert.equal(await get('/v1//models'), 200)
  for (const path of ['/usage', '/v1/v1/usage', '/v1//api-keys', '//metrics', '//v1/usage'])
    assert.equal(await get(path), 404, path)
})

test("Azure's path names the model, whatever the body says", async () => {
  const path = '/openai/deployments/plain/chat/completions?api-version=2024-06-01'
  const headers = { 'api-key': gateway.secret }
  for (const model of [undefined, 'limited', 'gpt-35-turbo']) {
    const answer = await ask(origin, path, { headers, body: { ...sound(), model } })
    assert.equal(answer.json.model, 'plain', answer.text)
  }
  const wrong = await ask(origin, path.replace('plain', 'none'), { headers, body: sound() })
  assertRefusal(wrong, 404, 'model_not_found')
})

test('a maker in front and a version behind lead to the model, at its price and for its keys', async () => {
  const plain = await chat(sound('gpt-4o'))
  for (const name of ['openai/gpt-4o', 'gpt-4o-2024-11-20', 'openai/gpt-4o-2024-08-06']) {
    const answer = await chat(sound(name))
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.json.model, 'gpt-4o')
    assert.equal(billedIn(answer.text), billedIn(plain.text))
    await theOutcome(gateway, answer.requestId)
    const { json } = await ask(gateway.node.baseUrl, `/models/${name}`)
    assert.equal(json.id, 'gpt-4o')
  }
  assertRefusal(await chat(sound('gpt-4o-2024-05-13')), 404, 'model_not_found')
  const { db } = gateway.database
  const secretFor = async (id: string): Promise<string> =>
    (
      await createApiKey(db, {
        customerId: gateway.customerId,
        name: id,
        modelIds: [id],
        requestsPerMinute: 120,
      })
    ).secret
  const only = await secretFor('gpt-4o')
  assert.equal((await chat(sound('gpt-4o-2024-11-20'), only)).status, 200)
  const other = await secretFor('gpt-4o-mini')
  assertRefusal(await chat(sound('gpt-4o-2024-11-20'), other), 403, 'key_model_access_denied')
})

const refuseWith =
  (message: string, code: string): Behaviour =>
  (_call, response) =>
    void response
      .writeHead(400, { 'content-type': 'application/json' })
      .end(JSON.stringify({ error: { message, type: 'zephyr_error', code } }))

test('a prompt that is too long and content that is not allowed are told as such, without the words of the upstream', async () => {
  const faults = {
    context_length_exceeded: refuseWith(
      'Zephyr: maximum context length is 8192 tokens',
      'context_length_exceeded',
    ),
    content_policy_violation: refuseWith('Zephyr does not like it', 'content_policy_violation'),
  }
  for (const [code, behaviour] of Object.entries(faults)) {
    upstream.play('refusing', behaviour)
    for (const [path, body] of Object.entries(FORMATS))
      for (const stream of [false, true]) {
        const answer = await ask(gateway.node.baseUrl, path, {
          secret: gateway.secret,
          body: body('refusing', { stream }),
        })
        if (path === '/messages') assertMessagesRefusal(answer, 400, code)
        else assertRefusal(answer, 400, code)
        assertNoTrace(answer)
      }
  }
  upstream.play('refusing', faults.context_length_exceeded)
  const client = new OpenAI({
    baseURL: gateway.node.baseUrl,
    apiKey: gateway.secret,
    maxRetries: 0,
  })
  await assert.rejects(
    client.chat.completions.create({
      model: 'refusing',
      messages: [{ role: 'user', content: 'x' }],
    }),
    (error) =>
      error instanceof APIError &&
      error.code === 'context_length_exceeded' &&
      /prompt is too long|maximum context length/.test(error.message),
  )
})

test('a missing key is told from a wrong one', async () => {
  const { baseUrl } = gateway.node
  const missing = await ask(baseUrl, '/chat/completions', { body: sound() })
  const wrong = await ask(baseUrl, '/chat/completions', { body: sound(), secret: 'sk-svc-none' })
  for (const answer of [missing, wrong]) assertRefusal(answer, 401, 'authentication_failed')
  assert.match(missing.json.error.message, /não tem chave/)
  assert.match(wrong.json.error.message, /inválida/)
})

test('calls of the field that are not built answer in the caller’s format, and say what exists', async () => {
  const { baseUrl } = gateway.node
  const { secret } = gateway
  for (const path of [
    '/uploads',
    '/vector_stores/x',
    '/fine_tuning/jobs',
    '/assistants',
    '/threads/t/runs',
    '/realtime?model=x',
    '/images/variations',
    '/audio/voices',
  ]) {
    const answer = await ask(baseUrl, path, { secret, body: {} })
    assertRefusal(answer, 404, 'endpoint_not_available')
    assertRefusal(await ask(baseUrl, path, { secret }), 404, 'endpoint_not_available')
    const named = answer.json.error.message.match(/\/v1: (.*) e models/)[1].split(', ')
    for (const built of named) {
      const { status } = await ask(baseUrl, `/${built}`, { secret, body: {} })
      assert.notEqual(status, 404, built)
    }
  }
  const headers = { 'anthropic-version': '2023-06-01' }
  for (const path of ['/skills', '/uploads']) {
    const { json } = await ask(baseUrl, path, { secret, body: {}, headers })
    assert.deepEqual([json.type, json.error.code], ['error', 'endpoint_not_available'], path)
  }
  const files = await fetch(`${new URL(baseUrl).origin}/v1beta/files`, { method: 'POST' })
  const { error } = (await files.json()) as { error: { status: string; message: string } }
  assert.deepEqual([files.status, error.status], [404, 'NOT_FOUND'])
  assert.match(error.message, /não tem esta operação/)
  for (const unknown of ['/chat', '/embeddings/x', '/audio'])
    assertRefusal(await ask(baseUrl, unknown, { secret }), 404, 'not_found')
  assertRefusal(await ask(baseUrl, '/models/unheard-of', { secret }), 404, 'model_not_found')
})

test('images of models whose clients expect base64 have it unasked, beside the address', async () => {
  const draw = async (body: object): Promise<Record<string, unknown>[]> => {
    const { json } = await ask(gateway.node.baseUrl, '/images/generations', {
      secret: gateway.secret,
      body: { prompt: 'uma catraca', size: '1024x1024', quality: 'low', ...body },
    })
    return json.data
  }
  const fields = (images: Record<string, unknown>[]) =>
    images.map((image) => Object.keys(image).sort())
  assert.deepEqual(fields(await draw({ model: 'gpt-image-1' })), [['b64_json', 'url']])
  assert.deepEqual(fields(await draw({ model: 'gpt-image-1', response_format: 'url' })), [['url']])
  assert.deepEqual(fields(await draw({ model: 'sandbox-image' })), [['url']])
})

const CODINGS = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
}

/** A chat in this coding. */
function askCoded(secret: string | undefined, coding: string, body: Buffer): Promise<Asked> {
  const headers = { 'content-encoding': coding }
  return ask(gateway.node.baseUrl, '/chat/completions', { secret, body, headers })
}

test('a compressed body is read in each coding, and is held and charged by what it says', async () => {
  const body = JSON.stringify(
    sound('plain', { messages: [{ role: 'user', content: 'oi '.repeat(20_000) }] }),
  )
  const plain = await chat(body)
  const { held_nano_brl: held } = await theOutcome(gateway, plain.requestId)
  for (const [coding, compress] of Object.entries(CODINGS)) {
    const answer = await askCoded(gateway.secret, coding, compress(body))
    assert.equal(answer.status, 200, answer.text)
    assert.equal((await theOutcome(gateway, answer.requestId)).held_nano_brl, held, coding)
  }
  assertRefusal(await askCoded(gateway.secret, 'gzip', Buffer.from(body)), 400, 'invalid_request')
  assertRefusal(
    await askCoded(gateway.secret, 'compress', Buffer.from(body)),
    415,
    'invalid_request',
  )
  const parts = form([
    ['model', 'sandbox-transcribe'],
    ['file', wav(1), 'a.wav'],
  ])
  const ofForm = await ask(gateway.node.baseUrl, TRANSCRIPTIONS, {
    secret: gateway.secret,
    headers: { 'content-type': FORM_TYPE, 'content-encoding': 'gzip' },
    body: gzipSync(parts),
  })
  assertRefusal(ofForm, 415, 'invalid_request')
})

test('a bomb of a stranger, of a key without balance and of one with it ends before it is in memory', async () => {
  const zeros = Buffer.alloc(512 * MB, ' ')
  const poor = await seedPoor('0')
  for (const [coding, bomb] of [
    ['gzip', gzipSync(zeros)],
    ['zstd', zstdCompressSync(zeros)],
  ] as const) {
    assertRefusal(await askCoded(undefined, coding, bomb), 401, 'authentication_failed')
    assertRefusal(await askCoded('sk-svc-none', coding, bomb), 401, 'authentication_failed')
    assertRefusal(await askCoded(poor, coding, bomb), 402, 'insufficient_balance')
    assertRefusal(await askCoded(gateway.secret, coding, bomb), 413, 'invalid_request')
  }
  const metrics = await (await fetch(`${origin}/metrics`, BY_OPERATOR)).text()
  assert.match(metrics, /^catraca_body_bytes 0$/m)
})

test('a page of another origin may call models with its key, and nothing else', async () => {
  const page = { origin: 'https://chat.example.com' }
  const { baseUrl } = gateway.node
  const preflight = (path: string): Promise<Asked> =>
    ask(baseUrl, path, {
      method: 'OPTIONS',
      headers: {
        ...page,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,x-stainless-lang',
      },
    })
  for (const [path, body] of Object.entries(FORMATS)) {
    const asked = await preflight(path)
    assert.equal(asked.status, 204, path)
    assert.equal(
      asked.headers.get('access-control-allow-headers'),
      'authorization, content-type, x-stainless-lang',
    )
    for (const [secret, status] of [
      [gateway.secret, 200],
      ['sk-svc-none', 401],
    ] as const) {
      const answer = await ask(baseUrl, path, { secret, headers: page, body: body('plain') })
      assert.equal(answer.status, status)
      assert.equal(answer.headers.get('access-control-allow-origin'), '*')
      assert.equal(answer.headers.get('access-control-allow-credentials'), null)
    }
    const streamed = await ask(baseUrl, path, {
      secret: gateway.secret,
      headers: page,
      body: body('plain', { stream: true }),
    })
    assert.equal(streamed.headers.get('access-control-allow-origin'), '*')
  }
  for (const path of ['/usage', '/api-keys', '/session', '/me/profile', '/admin/customers']) {
    const asked = await preflight(path)
    assert.equal(asked.headers.get('access-control-allow-origin'), null, path)
    const answer = await ask(baseUrl, path, { secret: gateway.secret, headers: page })
    assert.equal(answer.headers.get('access-control-allow-origin'), null, path)
  }
})

const chunk = (delta: object, reason: string | null = null): string =>
  eventOf({ choices: [{ index: 0, delta, finish_reason: reason }] })

/** Says something, is silent for this long, and goes on. */
const silentInTheMiddle =
  (ms: number): Behaviour =>
  (_call, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(chunk({ content: 'Um momento, ' }))
    const timer = setTimeout(() => {
      response.write(chunk({ content: 'pronto.' }) + chunk({}, 'stop'))
      response.end(`${eventOf({ choices: [], usage: GOOD_USAGE })}data: [DONE]\n\n`)
    }, ms)
    response.once('close', () => clearTimeout(timer))
  }

/** What a client takes of a stream: its events, without the comments. */
const withoutComments = (text: string): string => text.replaceAll(': keep-alive\n', '')

test('complaint 11: keep-alives are comments, a dead upstream is found all the same, and its charge settles', async () => {
  upstream.play('quiet', silentInTheMiddle(2_500))
  upstream.play('dying', silentInTheMiddle(600_000))
  upstream.play('dead', hang)
  for (const [path, body] of Object.entries(FORMATS)) {
    const stream = (model: string): Promise<Asked> =>
      ask(gateway.node.baseUrl, path, {
        secret: gateway.secret,
        body: body(model, { stream: true }),
      })
    const [quiet, dying, dead] = await Promise.all([
      stream('quiet'),
      stream('dying'),
      stream('dead'),
    ])

    assert.match(quiet.text, /\n\n: keep-alive\n/, path)
    assert.match(quiet.text, /pronto\./)
    assert.doesNotMatch(withoutComments(quiet.text), /keep-alive|"error":\{/)
    const charged = await theOutcome(gateway, quiet.requestId)
    assert.equal(charged.completion_tokens, GOOD_USAGE.completion_tokens)

    // The silence of 4 s ends it, whatever was sent to the client meanwhile.
    assert.match(dying.text, /keep-alive/)
    assert.match(withoutComments(dying.text), /error|response\.failed/)
    const settled = await theOutcome(gateway, dying.requestId)
    assert.ok(settled.cost_billed_nano_brl > 0n, 'the words that were delivered are charged')

    // Nothing was delivered, so nothing is charged; the stream was open already.
    assert.equal(dead.status, 200)
    assert.match(dead.text, /^: keep-alive\n/)
    assert.match(withoutComments(dead.text), /upstream_error|response\.failed/)
    assert.equal((await theOutcome(gateway, dead.requestId)).cost_billed_nano_brl, 0n)
  }
})

test('the books are whole', async () => {
  upstream.play('plain', good)
  const answer = await askChat(gateway.node.baseUrl, gateway.secret, sound('plain'), {
    'x-svc-request-id': randomUUID(),
  })
  assert.equal(answer.status, 200)
  assert.ok(
    decimalBrl(
      (await theOutcome(gateway, answer.headers.get('x-request-id') as string))
        .cost_billed_nano_brl,
    ),
  )
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
})
