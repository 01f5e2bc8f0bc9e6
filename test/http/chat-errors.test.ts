/** Every row of the specification's tables of errors and headers, over real sockets. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApiKey, revokeApiKey } from '../../src/customers/api-keys.ts'
import { credit, debit, findAccount } from '../../src/money/ledger/entries.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { decimalBrl, NANO_PER_BRL } from '../../src/platform/lib/money.ts'
import { runCli } from '../harness/run-cli.ts'
import { avoidMinuteEnd } from '../harness/avoid-minute-end.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { startLocalNode, type LocalNode } from '../harness/local-node.ts'
import { ask, askChat, sound, type Asked } from '../harness/ask.ts'
import { assertHeaders, assertNoTrace, assertRefusal } from '../harness/assert-answer.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'

const BODY_BYTES_MAX = 2 * 1024 * 1024
const IP_LIMIT = 3

let gateway: TestGateway
/** A second node on the same database, behind a proxy, with a small limit for each address. */
let limited: LocalNode

before(async () => {
  gateway = await startGateway({ BODY_BYTES_MAX: String(BODY_BYTES_MAX) })
  limited = await startLocalNode({
    databaseUrl: gateway.database.databaseUrl,
    env: { RATE_LIMIT_PER_IP: String(IP_LIMIT), TRUST_PROXY: '127.0.0.1' },
  })
})

after(async () => {
  await limited.stop()
  await limited.remove()
  await gateway.stop()
})

const chat = (body: unknown, secret: string | undefined = gateway.secret): Promise<Asked> =>
  askChat(gateway.node.baseUrl, secret, body)

const user = (content: unknown): object => ({ messages: [{ role: 'user', content }] })

/** Each request breaks one rule of the specification's table of the request, or has no price. */
const FAULTY: Record<string, unknown> = {
  'no body': '',
  'no JSON': '{"model":',
  'no object': '[]',
  null: 'null',
  'no UTF-8': Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
  'no model': { messages: sound().messages },
  'a model that is no text': sound('x', { model: 7 }),
  'an empty model': sound(''),
  'no messages': { model: 'sandbox-chat' },
  'empty messages': sound('sandbox-chat', { messages: [] }),
  'messages that are no list': sound('sandbox-chat', { messages: { role: 'user', content: 'x' } }),
  'a message that is a text': sound('sandbox-chat', { messages: ['x'] }),
  'a message that is null': sound('sandbox-chat', { messages: [null] }),
  'a message without a role': sound('sandbox-chat', { messages: [{ content: 'x' }] }),
  'an unknown role': sound('sandbox-chat', { messages: [{ role: 'chefe', content: 'x' }] }),
  'a message without content': sound('sandbox-chat', { messages: [{ role: 'user' }] }),
  'content that is a number': sound('sandbox-chat', user(1)),
  'content that is an object': sound('sandbox-chat', user({ text: 'x' })),
  'a part without a type': sound('sandbox-chat', user([{ text: 'x' }])),
  'a part of an unknown type': sound('sandbox-chat', user([{ type: 'cheiro' }])),
  'a fault in the last message': sound('sandbox-chat', {
    messages: [
      { role: 'user', content: 'x' },
      { role: 'user', content: 2 },
    ],
  }),
  'max_tokens of zero': sound('sandbox-chat', { max_tokens: 0 }),
  'max_tokens below zero': sound('sandbox-chat', { max_tokens: -5 }),
  'max_tokens that is broken': sound('sandbox-chat', { max_tokens: 1.5 }),
  'max_tokens as a text': sound('sandbox-chat', { max_tokens: '10' }),
  'max_tokens that is absurd': sound('sandbox-chat', { max_tokens: 2_000_000_000 }),
  'max_tokens beyond numbers':
    '{"model":"sandbox-chat","max_tokens":1e999,"messages":[{"role":"user","content":"x"}]}',
  'max_completion_tokens of zero': sound('sandbox-chat', { max_completion_tokens: 0 }),
  'temperature below 0': sound('sandbox-chat', { temperature: -0.1 }),
  'temperature above 2': sound('sandbox-chat', { temperature: 2.01 }),
  'temperature as a text': sound('sandbox-chat', { temperature: '1' }),
  'stream as a text': sound('sandbox-chat', { stream: 'true' }),
  'stream as a number': sound('sandbox-chat', { stream: 1 }),
  'tools that are no list': sound('sandbox-chat', { tools: {} }),
  'tools of texts': sound('sandbox-chat', { tools: ['x'] }),
  'a tool that the provider would run': sound('sandbox-chat', { tools: [{ type: 'web_search' }] }),
  'response_format as a text': sound('sandbox-chat', { response_format: 'json_object' }),
  'stream_options as a text': sound('sandbox-chat', { stream: true, stream_options: 'usage' }),
  'n of zero': sound('sandbox-chat', { n: 0 }),
  'n that is absurd': sound('sandbox-chat', { n: 100_000 }),
  'a search without a price': sound('sandbox-chat', { web_search_options: {} }),
  'sound without a price': sound('sandbox-chat', {
    modalities: ['text', 'audio'],
    audio: { voice: 'x', format: 'mp3' },
  }),
  'what the upstream does not accept': sound('sandbox-error-400'),
}

test('400 invalid_request: each faulty field, in Portuguese, and nothing is charged', async (t) => {
  const before = await findAccount(gateway.database.db, gateway.customerId)
  for (const [name, body] of Object.entries(FAULTY)) {
    await t.test(name, async () => {
      const answer = await chat(body)
      assertRefusal(answer, 400, 'invalid_request')
    })
  }
  await untilNoHoldIsOpen(gateway.database)
  const now = await findAccount(gateway.database.db, gateway.customerId)
  assert.equal(now?.balanceNanoBrl, before?.balanceNanoBrl)
})

test('400 names the faulty field', async () => {
  for (const field of [
    'model',
    'messages',
    'max_tokens',
    'temperature',
    'stream',
    'tools',
    'response_format',
  ]) {
    const answer = await chat(
      sound('sandbox-chat', {
        [field]: { wrong: 'type' },
        ...(field === 'response_format' ? { response_format: 'x' } : {}),
      }),
    )
    assertRefusal(answer, 400, 'invalid_request')
    assert.ok(answer.json.error.message.includes(`"${field}"`), answer.json.error.message)
  }
})

test('400: a session id that is too long or contains spaces', async () => {
  for (const id of ['x'.repeat(81), 'a b']) {
    const answer = await askChat(gateway.node.baseUrl, gateway.secret, sound(), {
      'x-svc-session-id': id,
    })
    assertRefusal(answer, 400, 'invalid_request')
  }
})

test('a body above the limit is refused in the proxy format, with all headers', async () => {
  const answer = await chat(sound('sandbox-chat', user('x'.repeat(BODY_BYTES_MAX))))
  assertRefusal(answer, 413, 'invalid_request')
})

test('401 authentication_failed: no key, a wrong key, another scheme', async () => {
  assertRefusal(
    await askChat(gateway.node.baseUrl, undefined, sound()),
    401,
    'authentication_failed',
  )
  assertRefusal(await chat(sound(), `sk-svc-${'x'.repeat(32)}`), 401, 'authentication_failed')
  assertRefusal(await chat(sound(), `${gateway.secret}x`), 401, 'authentication_failed')
  const basic = { authorization: `Basic ${Buffer.from(`:${gateway.secret}`).toString('base64')}` }
  assertRefusal(
    await askChat(gateway.node.baseUrl, undefined, sound(), basic),
    401,
    'authentication_failed',
  )
  // The error for a malformed body reveals nothing without a valid key.
  assertRefusal(await chat('{', 'sk-svc-none'), 401, 'authentication_failed')
})

test('401: from the next request on, a revoked key buys nothing, on every node', async () => {
  for (let round = 0; round < 5; round++) {
    const { key, secret } = await seedCustomer(gateway.database.db, { balanceBrl: '10' })
    const from = { 'x-forwarded-for': `10.1.0.${round}` }
    assert.equal((await chat(sound(), secret)).status, 200)
    assert.equal((await askChat(limited.baseUrl, secret, sound(), from)).status, 200)
    assert.equal(await revokeApiKey(gateway.database.db, key.id), 'revoked')
    const answers = await Promise.all([
      chat(sound(), secret),
      askChat(limited.baseUrl, secret, sound(), from),
    ])
    for (const answer of answers) assertRefusal(answer, 401, 'authentication_failed')
  }
})

test('401: a key that the operator revoked by the command line, at once', async () => {
  const { key, secret } = await seedCustomer(gateway.database.db, { balanceBrl: '10' })
  assert.equal((await chat(sound(), secret)).status, 200)
  const ran = await runCli(['key', 'revoke', key.id], {
    DATABASE_URL: gateway.database.databaseUrl,
    DATA_DIR: gateway.node.dataDir,
  })
  assert.equal(ran.code, 0, ran.stderr)
  assertRefusal(await chat(sound(), secret), 401, 'authentication_failed')
})

test('401: a key stops when it expires', async () => {
  const past = await seedCustomer(gateway.database.db, {
    balanceBrl: '10',
    expiresAt: new Date(Date.now() - 1000),
  })
  assertRefusal(await chat(sound(), past.secret), 401, 'authentication_failed')
  // Long enough for one call on a slow machine.
  const expiresAt = new Date(Date.now() + 4_000)
  const soon = await seedCustomer(gateway.database.db, { balanceBrl: '10', expiresAt })
  assert.equal((await chat(sound(), soon.secret)).status, 200)
  await sleep(expiresAt.getTime() - Date.now() + 100)
  assertRefusal(await chat(sound(), soon.secret), 401, 'authentication_failed')
})

/** The amount that the gateway holds for this request. */
async function holdOf(body: Record<string, unknown>): Promise<bigint> {
  const { secret, customerId } = await seedCustomer(gateway.database.db, { balanceBrl: '10000' })
  const running = chat(body, secret)
  try {
    return await theHold(customerId)
  } finally {
    await running
  }
}

async function theHold(customerId: string): Promise<bigint> {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await sleep(5)) {
    const hold = await gateway.database.db
      .selectFrom('holds')
      .select('amount_nano_brl')
      .where('customer_id', '=', customerId)
      .executeTakeFirst()
    if (hold) return hold.amount_nano_brl
  }
  throw new Error('nothing was held')
}

test('402 insufficient_balance: without a balance; after a top-up the key works', async () => {
  const { secret, customerId } = await seedCustomer(gateway.database.db, { balanceBrl: '0' })
  assertRefusal(await chat(sound(), secret), 402, 'insufficient_balance')
  await credit(gateway.database.db, {
    customerId,
    amountNanoBrl: 10n * NANO_PER_BRL,
    reason: 'top_up',
    reference: createId(),
  })
  assert.equal((await chat(sound(), secret)).status, 200)
  const account = await findAccount(gateway.database.db, customerId)
  await debit(gateway.database.db, {
    customerId,
    amountNanoBrl: account?.balanceNanoBrl as bigint,
    reason: 'adjustment',
    reference: createId(),
  })
  assertRefusal(await chat(sound(), secret), 402, 'insufficient_balance')
})

test('402 insufficient_balance states how many tokens fit, to the token', async () => {
  const body = (max_tokens: number): Record<string, unknown> =>
    sound('sandbox-chat', { max_tokens })
  // A limit that is too high is lowered, down to 64 tokens; fewer are of no use.
  const ceiling = await holdOf({ ...body(40), model: 'sandbox-slow' })
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: decimalBrl(ceiling) })
  const refused = await chat(body(4000), secret)
  assertRefusal(refused, 402, 'insufficient_balance')
  const fits = Number(/de até (\d+)/.exec(refused.json.error.message)?.[1])
  assert.ok(fits >= 40 && fits < 64, refused.json.error.message)
  // Its number has fewer digits, and so the prompt fewer bytes.
  assertRefusal(await chat(body(fits + 2), secret), 402, 'insufficient_balance')
  assert.equal((await chat(body(fits), secret)).status, 200)
})

test('429 balance_on_hold, with retry-after: running calls hold the balance', async () => {
  const body = sound('sandbox-slow', { max_tokens: 2000 })
  const ceiling = await holdOf(body)
  const { secret, customerId } = await seedCustomer(gateway.database.db, {
    balanceBrl: decimalBrl(ceiling),
  })
  const running = chat(body, secret)
  await theHold(customerId)
  const refused = await chat(body, secret)
  assertRefusal(refused, 429, 'balance_on_hold')
  assert.equal(refused.headers.get('x-should-retry'), 'true')
  assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  assert.equal((await running).status, 200)
  assert.equal((await chat(sound('sandbox-chat', { max_tokens: 2000 }), secret)).status, 200)
})

test("402 key_budget_exceeded: the key's budget ends before the balance", async () => {
  const { secret } = await seedCustomer(gateway.database.db, {
    balanceBrl: '1000',
    budget: { limitPicoUsd: 10n, period: 'month' },
  })
  assertRefusal(await chat(sound(), secret), 402, 'key_budget_exceeded')
})

test("403 ip_blocked_by_allowlist: a caller outside the key's list, on model calls and REST", async () => {
  const blocked = await seedCustomer(gateway.database.db, {
    balanceBrl: '10',
    ipAllowlist: ['203.0.113.0/24'],
  })
  assertRefusal(await chat(sound(), blocked.secret), 403, 'ip_blocked_by_allowlist')
  const rest = await ask(gateway.node.baseUrl, '/usage', { secret: blocked.secret })
  assert.equal(rest.status, 403)
  assert.equal(rest.json.error, 'ip_blocked_by_allowlist')
  assertHeaders(rest, rest.requestId)
  // The forwarded address counts only if the proxy is trusted.
  const forged = await askChat(gateway.node.baseUrl, blocked.secret, sound(), {
    'x-forwarded-for': '203.0.113.5',
  })
  assertRefusal(forged, 403, 'ip_blocked_by_allowlist')
  const through = await askChat(limited.baseUrl, blocked.secret, sound(), {
    'x-forwarded-for': '203.0.113.5',
  })
  assert.equal(through.status, 200)
  const own = await seedCustomer(gateway.database.db, {
    balanceBrl: '10',
    ipAllowlist: ['127.0.0.0/8'],
  })
  assert.equal((await chat(sound(), own.secret)).status, 200)
})

test("403 key_model_access_denied: a model outside the key's list", async () => {
  const { secret } = await seedCustomer(gateway.database.db, {
    balanceBrl: '10',
    modelIds: ['sandbox-chat'],
  })
  assertRefusal(await chat(sound('sandbox-long'), secret), 403, 'key_model_access_denied')
  assert.equal((await chat(sound('sandbox-chat'), secret)).status, 200)
})

test('404 model_not_found: an unknown model, even with an odd name', async () => {
  for (const model of [
    'gpt-99',
    '__proto__',
    'constructor',
    'SANDBOX-CHAT',
    'sandbox-chat ',
    '../sandbox-chat',
    'x'.repeat(10_000),
    '\u0000"\n',
  ]) {
    const answer = await chat(sound(model))
    assertRefusal(answer, 404, 'model_not_found')
    assert.ok(answer.json.error.message.length < 300)
  }
})

test('404: an unknown address under the model calls, in the proxy format', async () => {
  for (const path of ['/chat', '/chat/completions/x']) {
    const answer = await ask(gateway.node.baseUrl, path, { secret: gateway.secret, body: sound() })
    assertRefusal(answer, 404, 'not_found')
  }
})

test('429 rate_limit_exceeded: too many requests from one address without a recognised key; a key has its own limit', async () => {
  await avoidMinuteEnd(20_000)
  const from = { 'x-forwarded-for': '10.2.0.1' }
  const call = (secret: string, at = from) => askChat(limited.baseUrl, secret, sound(), at)
  assert.equal((await call(gateway.secret)).status, 200)
  let wrong = 0
  let refused = await call('sk-svc-wrong')
  while (refused.status === 401 && wrong++ <= IP_LIMIT) refused = await call('sk-svc-wrong')
  assertRefusal(refused, 429, 'rate_limit_exceeded')
  assert.equal(wrong, IP_LIMIT)
  assert.ok(Number(refused.headers.get('retry-after')) <= 60)
  assert.equal((await call('sk-svc-wrong', { 'x-forwarded-for': '10.2.0.2' })).status, 401)
  for (let calls = 0; calls <= IP_LIMIT; calls++) {
    const passed = await call(gateway.secret)
    assert.equal(passed.status, 200, passed.text)
    assert.equal(passed.headers.get('x-ratelimit-limit'), '1000000')
  }
})

test('429 rate_limit_exceeded: keys without money count for their address, and the keys of others pass', async () => {
  await avoidMinuteEnd(20_000)
  const from = { 'x-forwarded-for': '10.2.0.4' }
  const { db } = gateway.database
  const poor = await Promise.all([1, 2, 3].map(() => seedCustomer(db, { balanceBrl: '0' })))
  const statuses: number[] = []
  for (let calls = 0; calls < 2 * IP_LIMIT; calls++) {
    const { secret } = poor[calls % poor.length] as (typeof poor)[number]
    const answer = await askChat(limited.baseUrl, secret, sound(), from)
    statuses.push(answer.status)
    if (answer.status !== 429) continue
    assertRefusal(answer, 429, 'rate_limit_exceeded')
    assert.equal(answer.headers.get('x-ratelimit-limit'), String(IP_LIMIT))
  }
  assert.deepEqual(new Set(statuses.slice(0, IP_LIMIT + 1)), new Set([402]))
  assert.deepEqual(new Set(statuses.slice(IP_LIMIT + 1)), new Set([429]))
  assert.equal((await askChat(limited.baseUrl, gateway.secret, sound(), from)).status, 200)
})

test('429 rate_limit_exceeded: keys of an account whose money is on hold count for their address', async () => {
  await avoidMinuteEnd(20_000)
  const from = { 'x-forwarded-for': '10.2.0.5' }
  const body = sound('sandbox-slow', { max_tokens: 2000 })
  const { db } = gateway.database
  const { secret, customerId } = await seedCustomer(db, {
    balanceBrl: decimalBrl(await holdOf(body)),
  })
  const running = chat(body, secret)
  await theHold(customerId)
  const codes: string[] = []
  for (let calls = 0; calls < 2 * IP_LIMIT; calls++) {
    const { secret: another } = await createApiKey(db, {
      customerId,
      name: 'outra',
      requestsPerMinute: 1000,
    })
    const { json } = await askChat(limited.baseUrl, another, body, from)
    codes.push(json.error.code)
  }
  assert.deepEqual(new Set(codes.slice(0, IP_LIMIT + 1)), new Set(['balance_on_hold']))
  assert.deepEqual(new Set(codes.slice(IP_LIMIT + 1)), new Set(['rate_limit_exceeded']))
  assert.equal((await running).status, 200)
  assert.equal((await askChat(limited.baseUrl, gateway.secret, sound(), from)).status, 200)
})

test('429: refused requests count too, even without a key', async () => {
  const from = { 'x-forwarded-for': '10.2.0.3' }
  const statuses: number[] = []
  for (let index = 0; index <= 2 * IP_LIMIT; index++) {
    const answer = await askChat(limited.baseUrl, undefined, '{', from)
    statuses.push(answer.status)
    if (answer.status === 429) {
      assertRefusal(answer, 429, 'rate_limit_exceeded')
      assert.equal(answer.headers.get('x-ratelimit-limit'), String(IP_LIMIT))
      assert.equal(answer.headers.get('x-ratelimit-remaining'), '0')
      return
    }
  }
  assert.fail(`never limited: ${statuses.join()}`)
})

test('429 api_key_rate_limited: the limit of the key, with the remaining requests in the headers', async () => {
  const { secret } = await seedCustomer(gateway.database.db, {
    balanceBrl: '10',
    requestsPerMinute: 5,
  })
  const remaining: number[] = []
  let refused: Asked | undefined
  for (let index = 0; index <= 10 && !refused; index++) {
    const answer = await chat(sound(), secret)
    assertHeaders(answer, answer.requestId)
    assert.equal(answer.headers.get('x-ratelimit-limit'), '5')
    if (answer.status === 200) remaining.push(Number(answer.headers.get('x-ratelimit-remaining')))
    else refused = answer
  }
  assertRefusal(refused as Asked, 429, 'api_key_rate_limited')
  assert.equal(refused?.headers.get('x-ratelimit-remaining'), '0')
  assert.deepEqual(remaining.slice(-5), [4, 3, 2, 1, 0])
  const secondsToReset = Number(refused?.headers.get('x-ratelimit-reset')) - Date.now() / 1000
  assert.ok(
    Math.abs(secondsToReset - Number(refused?.headers.get('retry-after'))) < 2.5,
    'both headers tell one time',
  )
})

test('429 api_key_rate_limited: the tokens of a minute', async () => {
  const { secret } = await seedCustomer(gateway.database.db, {
    balanceBrl: '10',
    tokensPerMinute: 500,
  })
  assertRefusal(
    await chat(sound('sandbox-chat', { max_tokens: 1000 }), secret),
    429,
    'api_key_rate_limited',
  )
})

test('429 rate_limit_exceeded: the model is limited upstream', async () => {
  for (const stream of [false, true]) {
    assertRefusal(await chat(sound('sandbox-error-429', { stream })), 429, 'rate_limit_exceeded')
  }
})

test('502 upstream_error: for any kind of upstream failure', async () => {
  for (const model of ['sandbox-error-401', 'sandbox-error-500', 'sandbox-html-error']) {
    for (const stream of [false, true])
      assertRefusal(await chat(sound(model, { stream })), 502, 'upstream_error')
  }
  for (const model of ['sandbox-garbage', 'sandbox-cut-stream', 'sandbox-error-in-stream']) {
    assertRefusal(await chat(sound(model)), 502, 'upstream_error')
  }
})

test('503 service_unavailable: the model is unavailable', async () => {
  for (const stream of [false, true]) {
    assertRefusal(await chat(sound('sandbox-error-503', { stream })), 503, 'service_unavailable')
  }
})

test('every answer under /v1 has the headers, and reveals nothing about the program', async () => {
  const { baseUrl } = gateway.node
  const paths = [
    '/models',
    '/healthz',
    '/healthz/db',
    '/usage',
    '/none',
    '/',
    '',
    '/models?category=none',
    '/chat/completions',
    '/../v1/none',
    '/%E0%A4%A',
    '/models/',
    '/me/none',
  ]
  for (const path of paths) {
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS', 'HEAD']) {
      const answer = await ask(baseUrl, path, { method })
      assert.ok(answer.status < 500, `${method} ${path}: ${answer.status}`)
      try {
        assertHeaders(answer, answer.requestId)
        // The specification has the catalog name the upstream of each model.
        const isCatalog = answer.status === 200 && answer.json?.models
        assertNoTrace(isCatalog ? { headers: answer.headers, text: '' } : answer)
      } catch (error) {
        throw new Error(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 200)}`, {
          cause: error,
        })
      }
    }
  }
  const good = await chat(sound())
  assert.equal(good.status, 200)
  assertHeaders(good, good.requestId)
  assertNoTrace(good)
  const stream = await chat(sound('sandbox-chat', { stream: true }))
  assertHeaders(stream, stream.requestId)
  assertNoTrace(stream)
})

test("the request id: a client's own is returned as it was sent, an absurd one is replaced", async () => {
  const bySvc = 'x-svc-request-id'
  const headersWith = async (id: string): Promise<Headers> => {
    const calls = [askChat(gateway.node.baseUrl, gateway.secret, sound(), { [bySvc]: id })]
    calls.push(ask(gateway.node.baseUrl, '/models', { headers: { [bySvc]: id } }))
    const [chat, models] = await Promise.all(calls)
    assert.equal(models?.headers.get(bySvc) === id, chat?.headers.get(bySvc) === id)
    return (chat as Asked).headers
  }
  for (const id of ['x', '1234', `${randomUUID()}x`, 'Pedido 7: "a"', 'x'.repeat(200)]) {
    const headers = await headersWith(id)
    assert.equal(headers.get(bySvc), id)
    assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/)
  }
  for (const id of ['', 'é', 'x'.repeat(201)]) {
    const headers = await headersWith(id)
    assert.equal(headers.get(bySvc), headers.get('x-request-id'))
  }
  const upper = randomUUID().toUpperCase()
  const headers = await headersWith(upper)
  assert.equal(headers.get(bySvc), upper)
  assert.equal(headers.get('x-request-id'), upper.toLowerCase())
})

test('an empty x-svc-session-id is none', async () => {
  const headers = { 'x-svc-session-id': '' }
  assert.equal((await askChat(gateway.node.baseUrl, gateway.secret, sound(), headers)).status, 200)
})

test('401 of /usage has no body; with a key it has the balance and the events', async () => {
  for (const secret of [undefined, 'sk-svc-none']) {
    const answer = await ask(gateway.node.baseUrl, '/usage', { secret })
    assert.equal(answer.status, 401)
    assert.equal(answer.text, '')
    assertHeaders(answer, answer.requestId)
  }
  const { secret, key } = await seedCustomer(gateway.database.db, { balanceBrl: '12.34' })
  assert.equal((await chat(sound(), secret)).status, 200)
  const { json, status } = await ask(gateway.node.baseUrl, '/usage', { secret })
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(json).sort(), ['balance', 'usage_events'])
  const { balance_brl, total_topped_up_brl, total_spent_brl } = json.balance
  assert.equal(total_topped_up_brl, 12.34)
  assert.ok(total_spent_brl > 0 && Math.abs(balance_brl + total_spent_brl - 12.34) < 1e-9)
  assert.equal(json.usage_events.length, 1)
  const [event] = json.usage_events
  assert.equal(event.model_id, 'sandbox-chat')
  assert.equal(event.api_key_id, key.id)
  assert.equal(event.cost_billed_brl, total_spent_brl)
  for (const field of ['prompt_tokens', 'completion_tokens', 'cost_upstream_usd'])
    assert.ok(event[field] > 0, field)
  assert.ok(!Number.isNaN(Date.parse(event.created_at)))
})

test('GET /models: the catalog by category, `chat` means `llm`, a bad category is a 400 in the REST format', async () => {
  const { baseUrl } = gateway.node
  const all = await ask(baseUrl, '/models')
  assert.equal(all.status, 200)
  assert.ok(all.json.models.length >= 21)
  for (const model of all.json.models) {
    for (const field of ['id', 'display_name', 'category', 'upstream'])
      assert.equal(typeof model[field], 'string', field)
    assert.equal(typeof model.markup_multiplier, 'number')
    assert.ok(model.description === null || typeof model.description === 'string')
  }
  const of = async (category: string): Promise<any[]> =>
    (await ask(baseUrl, `/models?category=${category}`)).json.models
  const llm = await of('llm')
  assert.ok(llm.some((model) => model.id === 'sandbox-chat'))
  assert.deepEqual(await of('chat'), llm)
  let sum = 0
  for (const category of ['llm', 'image', 'video', 'embedding', 'audio']) {
    const models = await of(category)
    assert.ok(
      models.every((model) => model.category === category),
      category,
    )
    sum += models.length
  }
  assert.equal(sum, all.json.models.length, 'each model is in one category')
  for (const query of [
    'category=x',
    'category=',
    'category=LLM',
    'category=llm&category=image',
    'category=__proto__',
  ]) {
    const bad = await ask(baseUrl, `/models?${query}`)
    assert.equal(bad.status, 400, query)
    assert.equal(bad.json.error, 'invalid_request')
    assert.ok(bad.json.details === undefined || typeof bad.json.details === 'string')
    assertHeaders(bad, bad.requestId)
  }
})

test('unknown addresses that are not model calls are a 404 in the REST format', async () => {
  const answer = await ask(gateway.node.baseUrl, '/none', { secret: gateway.secret })
  assert.equal(answer.status, 404)
  assert.equal(typeof answer.json.error, 'string')
  assertHeaders(answer, answer.requestId)
})

test('GET /healthz and /healthz/db', async () => {
  const health = await ask(gateway.node.baseUrl, '/healthz')
  assert.equal(health.status, 200)
  assert.equal(health.json.status, 'ok')
  const { status, json } = await ask(gateway.node.baseUrl, '/healthz/db')
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(json).sort(), ['latency_ms', 'ok', 'timestamp'])
  assert.equal(json.ok, true)
  assert.ok(Number.isInteger(json.latency_ms) && json.latency_ms >= 0)
  assert.equal(new Date(json.timestamp).toISOString(), json.timestamp)
})

test('after all of these calls nothing is held, and the audit is clean', async () => {
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
})
