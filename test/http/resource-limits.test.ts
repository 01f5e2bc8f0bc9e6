// deep: an attack
/** What one caller may occupy of a node: memory, processor and calls, before and after it is known. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { avoidMinuteEnd } from '../harness/avoid-minute-end.ts'
import { IMAGE_DOWNLOADS_MAX } from '../../src/http/images/image-file-routes.ts'
import { storeImage } from '../../src/gateway/generated-images.ts'
import { assertHeaders, assertRefusal } from '../harness/assert-answer.ts'
import { BY_OPERATOR, ask, askChat } from '../harness/ask.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { beginRequest } from '../harness/half-request.ts'
import {
  createGate,
  GOOD_USAGE,
  startScriptedUpstream,
  type Gate,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'

const MB = 1024 * 1024
const BODY_MB = 2
const ALL_MB = 5
const CALLS_AT_ONCE = 3
const CHAT = '/chat/completions'

let upstream: ScriptedUpstream
let file: ConfigFile
let gateway: TestGateway
let baseUrl: string

before(async () => {
  upstream = await startScriptedUpstream()
  file = await writeConfigFile({
    upstreams: [{ id: 'up', kind: 'openai-compatible', base_url: upstream.baseUrl }],
    models: [
      ...['quick', 'slow'].map((id) => ({
        id,
        category: 'llm' as const,
        vendor: 'roteiro',
        prices: { input: '1', output: '1' },
        context_tokens: 8_000_000,
        max_output_tokens: 1_000,
        routes: [{ upstream: 'up', model: id }],
      })),
      {
        id: 'vectors',
        category: 'embedding',
        vendor: 'roteiro',
        prices: { input: '1' },
        context_tokens: 8_000,
        embedding: { dimensions: 3_072 },
        routes: [{ upstream: 'up', model: 'vectors' }],
      },
    ],
  })
  gateway = await startGateway({
    CATRACA_CONFIG: file.path,
    BODY_BYTES_MAX: String(BODY_MB * MB),
    BODIES_BYTES_MAX: String(ALL_MB * MB),
    CALLS_AT_ONCE_MAX: String(CALLS_AT_ONCE),
  })
  baseUrl = gateway.node.baseUrl
})

after(async () => {
  await gateway.stop()
  await upstream.close()
  await file.remove()
})

const seed = (options: Partial<Parameters<typeof seedCustomer>[1]> = {}) =>
  seedCustomer(gateway.database.db, { balanceBrl: '1000', ...options })
const chat = (content: string, more: object = {}) => ({
  model: 'quick',
  messages: [{ role: 'user', content }],
  max_tokens: 5,
  ...more,
})

describe('before the body', () => {
  for (const bytes of [MB, undefined]) {
    const size = bytes === undefined ? 'in chunks' : 'of a declared size'

    test(`${size}: an unknown path is answered`, async () => {
      for (const path of ['/nothing', '/me/nothing']) {
        const half = beginRequest(baseUrl, path, { bytes, secret: gateway.secret })
        await half.send('{')
        assert.deepEqual((await half.answer).json.error, 'not_found')
        half.leave()
      }
      const call = beginRequest(baseUrl, '/chat/nothing', { bytes, secret: gateway.secret })
      assertRefusal(await call.answer, 404, 'not_found')
      call.leave()
    })

    test(`${size}: a call and a REST request without a valid key are refused`, async () => {
      for (const secret of [undefined, 'sk-svc-wrong']) {
        const call = beginRequest(baseUrl, CHAT, { bytes, secret })
        assertRefusal(await call.answer, 401, 'authentication_failed')
        const rest = beginRequest(baseUrl, '/me/prompts', { bytes, secret })
        assert.equal((await rest.answer).status, 401)
        call.leave()
        rest.leave()
      }
    })

    test(`${size}: a call without balance is refused`, async () => {
      const { secret } = await seed({ balanceBrl: '0' })
      const call = beginRequest(baseUrl, CHAT, { bytes, secret })
      assertRefusal(await call.answer, 402, 'insufficient_balance')
      call.leave()
    })
  }

  test('a call beyond the limit of its key is refused', async () => {
    await avoidMinuteEnd()
    const { secret } = await seed({ requestsPerMinute: 1 })
    assert.equal((await askChat(baseUrl, secret, chat('oi'))).status, 200)
    assertRefusal(await askChat(baseUrl, secret, chat('oi')), 429, 'api_key_rate_limited')
    const call = beginRequest(baseUrl, CHAT, { bytes: MB, secret })
    assertRefusal(await call.answer, 429, 'api_key_rate_limited')
    call.leave()
  })

  test('a call whose key has used up its budget is refused', async () => {
    const budget = { limitPicoUsd: 1_000_000_000n, period: 'lifetime' } as const
    const { secret, key } = await seed({ budget })
    await sql`update api_key_budgets set spent_pico_usd = limit_pico_usd where api_key_id = ${key.id}`.execute(
      gateway.database.db,
    )
    const call = beginRequest(baseUrl, CHAT, { bytes: MB, secret })
    assertRefusal(await call.answer, 402, 'key_budget_exceeded')
    call.leave()
  })
})

test('a REST body is limited to 256 kB, the body of a model call by its own limit', async () => {
  const { secret } = await seed()
  const rest = beginRequest(baseUrl, '/me/prompts', { bytes: 256 * 1024 + 1, secret })
  const { status, json } = await rest.answer
  assert.deepEqual([status, json.error], [413, 'payload_too_large'])
  rest.leave()
  const chunked = beginRequest(baseUrl, '/me/prompts', { secret })
  await chunked.send(Buffer.alloc(256 * 1024 + 1, ' '))
  assert.equal((await chunked.answer).status, 413)
  chunked.leave()
  const long = await askChat(baseUrl, secret, chat('x'.repeat(1.5 * MB)))
  assert.equal(long.status, 200, long.text)
})

test('a client that has read its refusal can reuse the connection', async () => {
  const { secret } = await seed({ balanceBrl: '0' })
  const refused = await askChat(baseUrl, secret, chat('x'.repeat(MB)))
  assertRefusal(refused, 402, 'insufficient_balance')
})

describe('the structure of a body', () => {
  const inBody = (value: string): string =>
    `{"model":"quick","messages":[{"role":"user","content":"oi"}],"max_tokens":5,"user":${value}}`
  const cases: readonly (readonly [string, string, RegExp | undefined])[] = [
    ['100,000 lists', `[${'[],'.repeat(100_000)}1]`, /valores demais/],
    ['500,001 numbers', `[${'1,'.repeat(500_001)}1]`, /valores demais/],
    ['100,000 fields', `{${'"a":1,'.repeat(100_000)}"b":1}`, /valores demais/],
    ['a depth of 100,000', '['.repeat(100_000) + ']'.repeat(100_000), /níveis/],
    ['a depth of 201 in a small body', `[${'['.repeat(200)}${']'.repeat(200)}]`, /níveis/],
    ['a text of brackets', JSON.stringify('[{"'.repeat(200_000)), undefined],
    ['10,000 numbers', `[${'1,'.repeat(10_000)}1]`, undefined],
  ]
  for (const [name, value, fault] of cases) {
    test(`${name}: ${fault ? 'refused' : 'accepted'}`, async () => {
      const { secret } = await seed()
      const answer = await askChat(baseUrl, secret, inBody(value))
      if (!fault) return assert.equal(answer.status, 200, answer.text)
      assertRefusal(answer, 400, 'invalid_request')
      assert.match(answer.json.error.message, fault)
    })
  }
})

test('bodies in flight are limited for each customer and in total, and their memory becomes free again', async () => {
  const part = Buffer.alloc(1.5 * MB, ' ')
  const [one, two, three, four] = await Promise.all([seed(), seed(), seed(), seed()])
  const begin = async ({ secret }: { secret: string }) => {
    const half = beginRequest(baseUrl, CHAT, { bytes: BODY_MB * MB, secret })
    await half.send(part)
    return half
  }
  const halves = [await begin(one), await begin(two), await begin(three)]
  await until(async () => (await readBodyBytes()) === 3 * part.length)
  const own = await askLarge(one.secret)
  assertRefusal(own, 429, 'rate_limit_exceeded')
  const all = await askLarge(four.secret)
  assertRefusal(all, 503, 'service_unavailable')
  assert.match(all.headers.get('retry-after') ?? '', /^\d+$/)
  assert.equal((await askChat(baseUrl, one.secret, chat('oi'))).status, 200, 'small calls go on')

  for (const half of halves) half.leave()
  await until(async () => (await readBodyBytes()) === 0)
  for (const { secret } of [one, four]) assert.equal((await askLarge(secret)).status, 200)
})

test('a body that grows beyond the memory for bodies is refused while it arrives', async () => {
  const { secret } = await seed()
  const halves = [beginRequest(baseUrl, CHAT, { secret }), beginRequest(baseUrl, CHAT, { secret })]
  for (const half of halves) void half.send(Buffer.alloc(1.5 * MB, ' '))
  const refused = await Promise.race(halves.map(({ answer }) => answer))
  assertRefusal(refused, 429, 'rate_limit_exceeded')
  for (const half of halves) half.leave()
})

const askLarge = (secret: string) => askChat(baseUrl, secret, chat('x'.repeat(1.5 * MB)))

test('calls of one customer at once are limited, with any of its keys; those of others are not', async () => {
  const { customerId, secret } = await seed()
  const { secret: other } = await createApiKey(gateway.database.db, {
    customerId,
    name: 'outra',
    requestsPerMinute: 1_000,
  })
  const gate: Gate = createGate()
  upstream.play('slow', gate.behaviour)
  const running = Array.from({ length: CALLS_AT_ONCE }, () =>
    askChat(baseUrl, secret, chat('oi', { model: 'slow' })),
  )
  await until(() => gate.waitedMax === CALLS_AT_ONCE)
  assertRefusal(await askChat(baseUrl, other, chat('oi')), 429, 'rate_limit_exceeded')
  const early = beginRequest(baseUrl, CHAT, { bytes: MB, secret: other })
  assertRefusal(await early.answer, 429, 'rate_limit_exceeded')
  early.leave()
  assert.equal((await askChat(baseUrl, gateway.secret, chat('oi'))).status, 200)
  gate.open()
  for (const answer of await Promise.all(running)) assert.equal(answer.status, 200)
  assert.equal((await askChat(baseUrl, other, chat('oi'))).status, 200)
})

test('calls that begin before any of them is counted are limited as well', async () => {
  const { secret } = await seed()
  const gate: Gate = createGate()
  upstream.play('slow', gate.behaviour)
  const text = JSON.stringify(chat('oi', { model: 'slow' })).padEnd(64 * 1024)
  const halves = Array.from({ length: 2 * CALLS_AT_ONCE }, () =>
    beginRequest(baseUrl, CHAT, { secret, bytes: text.length }),
  )
  // What arrived of the bodies is counted after the caller's other calls were.
  for (const half of halves) void half.send(text.slice(0, -1))
  await until(async () => (await readBodyBytes()) === halves.length * (text.length - 1))
  for (const half of halves) void half.send(text.slice(-1)).then(() => half.end())
  const refused: number[] = []
  for (const { answer } of halves) void answer.then(({ status }) => refused.push(status))
  await until(() => gate.waitedMax + refused.length === halves.length)
  assert.deepEqual(refused, [429, 429, 429])
  gate.open()
  const statuses = await Promise.all(halves.map(async ({ answer }) => (await answer).status))
  assert.deepEqual(
    statuses.toSorted((one, other) => one - other),
    [200, 200, 200, 429, 429, 429],
  )
})

test("the bytes of an upstream's answer count for its customer, and none are left of one without room", async () => {
  const { secret } = await seed()
  let size = 0
  upstream.play('slow', (_call, response) => {
    const message = { role: 'assistant', content: 'x'.repeat(size) }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.on('error', () => {})
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    response.end(JSON.stringify({ choices, usage: GOOD_USAGE }))
  })
  const answerOf = (bytes: number) => {
    size = bytes
    return ask(baseUrl, CHAT, { secret, body: chat('oi', { model: 'slow' }) })
  }
  assertRefusal(await answerOf(2 * BODY_MB * MB), 429, 'rate_limit_exceeded')
  assert.equal(await readBodyBytes(), 0)
  const { status, json } = await answerOf(MB)
  assert.deepEqual([status, json.choices[0].message.content.length], [200, MB])
})

async function readBodyBytes(): Promise<number> {
  const text = await (await fetch(new URL('/metrics', baseUrl), BY_OPERATOR)).text()
  return Number(/^catraca_body_bytes (\d+)$/m.exec(text)?.[1])
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5))
}

test('the vectors that embeddings may return are limited for each call and for each customer', async () => {
  const { secret } = await seed()
  const embed = (count: number) => {
    const input = Array.from({ length: count }, () => 'oi')
    return ask(baseUrl, '/embeddings', { secret, body: { model: 'vectors', input } })
  }
  const large = await embed(2_048)
  assertRefusal(large, 400, 'invalid_request')
  assert.match(large.json.error.message, /até 620 textos/)
  // 3.4 MB of numbers, where the customer may fill 2 MB.
  assertRefusal(await embed(50), 429, 'rate_limit_exceeded')
  assert.equal((await embed(1)).status, 200)
  // The answer that is counted has 1.6 of 2 MB; numbers of the upstream in place of base64 are larger.
  const input = Array.from({ length: 100 }, () => 'oi')
  upstream.play('vectors', (_call, response) => {
    const embedding = Array.from({ length: 3_072 }, () => 0.1234567890123456)
    const data = input.map((_text, index) => ({ index, embedding }))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ data, usage: { prompt_tokens: 100, total_tokens: 100 } }))
  })
  const body = { model: 'vectors', input, encoding_format: 'base64' }
  assert.equal((await ask(baseUrl, '/embeddings', { secret, body })).status, 200)
  assert.equal(await readBodyBytes(), 0)
})

test('images are sent in parts, unchanged, a limited number at once to one address', async () => {
  const { db } = gateway.database
  for (const size of [1, 256 * 1024, 256 * 1024 + 1, 700_001]) {
    const bytes = randomBytes(size)
    const id = await storeImage(db, gateway.customerId, { mediaType: 'image/png', bytes })
    const answer = await fetch(`${baseUrl}/files/images/${id}`)
    assert.equal(answer.headers.get('content-length'), String(size))
    assert.ok(Buffer.from(await answer.arrayBuffer()).equals(bytes), `${size} bytes`)
  }
  const bytes = randomBytes(16 * MB)
  const id = await storeImage(db, gateway.customerId, { mediaType: 'image/png', bytes })
  const unread: IncomingMessage[] = []
  for (let count = 0; count < IMAGE_DOWNLOADS_MAX; count += 1) {
    const [response] = (await once(
      get(`${baseUrl}/files/images/${id}`, { agent: new Agent() }),
      'response',
    )) as [IncomingMessage]
    response.on('error', () => {})
    assert.equal(response.statusCode, 200)
    unread.push(response)
  }
  const more = await ask(baseUrl, `/files/images/${id}`)
  assert.deepEqual([more.status, more.json.error], [429, 'too_many_downloads'])
  assertHeaders(more)
  for (const response of unread) response.destroy()
  await until(async () => (await fetch(`${baseUrl}/files/images/${id}`)).status === 200)
})

test('a body in chunks of one byte is served while it is small, and refused when it takes many of them', async () => {
  const { secret } = await seed()
  const text = JSON.stringify(chat('x'.repeat(2_000)))
  for (const [path, body] of [
    [CHAT, text],
    ['/me/prompts', '{"name":"Prompt","body":"x"}'],
  ] as const) {
    const small = beginRequest(baseUrl, path, { secret })
    for (const letter of body) await small.send(letter)
    small.end()
    const { status } = await small.answer
    assert.ok(status === 200 || status === 201, `${path}: ${status}`)
    const large = beginRequest(baseUrl, path, { secret })
    for (let count = 0; count < 6_000; count++) void large.send(' ')
    assert.equal((await large.answer).status, 413, path)
    assert.equal((await large.answer).headers.get('connection'), 'close')
    large.leave()
  }
})
