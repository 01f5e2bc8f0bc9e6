// deep: every limit of requests, used up
/** How many REST requests a caller may make in a minute: a key, an account, a session, and those who have none. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { ask, askChat, type Asked } from '../harness/ask.ts'
import { assertRefusal } from '../harness/assert-answer.ts'
import { avoidMinuteEnd } from '../harness/avoid-minute-end.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { openSession } from '../harness/open-session.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { ACCOUNT_FACTOR } from '../../src/http/rest/rest-limits.ts'

const PER_MINUTE = 60
/** The requests that a minute's allowance gives back while a test runs: one a second. */
const GIVEN_BACK_MAX = 30
const WRONG = 'sk-svc-wrong'

let gateway: TestGateway
let baseUrl: string

before(async () => {
  gateway = await startGateway({
    REST_RATE_LIMIT_PER_KEY: String(PER_MINUTE),
    REST_RATE_LIMIT_PER_IP: String(PER_MINUTE),
    RATE_LIMIT_PER_IP: '20',
    TRUST_PROXY: '127.0.0.1',
  })
  baseUrl = gateway.node.baseUrl
})

after(() => gateway.stop())

let place = 0
/** A network that no other request of this file came from. */
const elsewhere = (): string => `198.51.100.${++place}`
const from = (ip: string) => ({ 'x-forwarded-for': ip })
const seed = () => seedCustomer(gateway.database.db, { balanceBrl: '10' })

/** Returns the number of requests before the first that was refused for its pace, and that answer. */
async function countUntilRefused(
  call: () => Promise<Asked>,
  max: number,
): Promise<{ passed: number; refused: Asked }> {
  for (let passed = 0; passed <= max; passed++) {
    const answer = await call()
    if (answer.status === 429) return { passed, refused: answer }
  }
  assert.fail(`${max} requests passed`)
}

function assertTooMany({ json, headers }: Asked): void {
  assert.equal(json.error, 'rate_limit_exceeded')
  const wait = Number(headers.get('retry-after'))
  assert.ok(Number.isInteger(wait) && wait >= 1 && wait <= 60, `retry-after: ${wait}`)
  assert.equal(json.details, `Requisições demais em um minuto. Tente de novo em ${wait} s.`)
}

describe('a known caller', () => {
  test('a key has a limit in a minute, wherever it asks from, and takes nothing from another key', async () => {
    const { secret } = await seed()
    const call = () => ask(baseUrl, '/usage/by-key', { secret, headers: from(elsewhere()) })
    const { passed, refused } = await countUntilRefused(call, PER_MINUTE + GIVEN_BACK_MAX)
    assert.ok(passed >= PER_MINUTE, `${passed} passed`)
    assertTooMany(refused)
    const other = await seed()
    assert.equal((await ask(baseUrl, '/usage/by-key', { secret: other.secret })).status, 200)
  })

  test('a request that writes counts as four', async () => {
    const { secret } = await seed()
    const body = { name: 'Prompt', body: 'x' }
    const { passed, refused } = await countUntilRefused(
      () => ask(baseUrl, '/me/prompts', { secret, body }),
      PER_MINUTE / 2,
    )
    assert.ok(passed >= PER_MINUTE / 4)
    assertTooMany(refused)
  })

  test('a login session has a limit of its own: a key that runs away locks nobody out', async () => {
    const { customerId, secret } = await seed()
    const ofKey = () => ask(baseUrl, '/me/dashboard-stats', { secret })
    await countUntilRefused(ofKey, PER_MINUTE + GIVEN_BACK_MAX)
    const { db } = gateway.database
    const session = await openSession({ db, dataDir: gateway.node.dataDir }, customerId)
    const ofSession = () => ask(baseUrl, '/me/dashboard-stats', { secret: session })
    const { passed, refused } = await countUntilRefused(ofSession, PER_MINUTE + GIVEN_BACK_MAX)
    assert.ok(passed >= PER_MINUTE, `${passed} passed`)
    assertTooMany(refused)
  })

  test('all keys of an account, and all its sessions, have five times as much together, and other accounts the same', async () => {
    const { db } = gateway.database
    const manyOf = (make: () => Promise<string>): Promise<string[]> =>
      Promise.all(Array.from({ length: 2 * ACCOUNT_FACTOR }, make))
    const { customerId } = await seed()
    const makers = {
      keys: async () =>
        (await createApiKey(db, { customerId, name: 'uma de muitas', requestsPerMinute: 60 }))
          .secret,
      sessions: () => openSession({ db, dataDir: gateway.node.dataDir }, customerId),
    }
    for (const [kind, make] of Object.entries(makers)) {
      const secrets = await manyOf(make)
      let turn = 0
      const call = () =>
        ask(baseUrl, '/me/dashboard-stats', { secret: secrets[turn++ % secrets.length] as string })
      const max = ACCOUNT_FACTOR * (PER_MINUTE + GIVEN_BACK_MAX)
      const { passed, refused } = await countUntilRefused(call, max)
      assert.ok(passed >= ACCOUNT_FACTOR * PER_MINUTE, `${passed} requests of ${kind} passed`)
      assertTooMany(refused)
    }
    const other = await seed()
    assert.equal((await ask(baseUrl, '/me/dashboard-stats', { secret: other.secret })).status, 200)
  })

  test('model calls do not count', async () => {
    const { secret } = await seed()
    const messages = [{ role: 'user', content: 'Oi' }]
    for (let count = 0; count < 15; count++) {
      const body = { model: 'sandbox-chat', messages, max_tokens: 5 }
      assert.equal((await askChat(baseUrl, secret, body, from(elsewhere()))).status, 200)
    }
    for (let count = 0; count < PER_MINUTE; count++)
      assert.equal((await ask(baseUrl, '/usage/by-key', { secret })).status, 200)
  })
})

describe('without a valid key', () => {
  test('an address may try few wrong keys; then even the next one is not looked up', async () => {
    const headers = from(elsewhere())
    const call = () => ask(baseUrl, '/me/prompts', { secret: WRONG + Math.random(), headers })
    const { passed, refused } = await countUntilRefused(call, 10 + GIVEN_BACK_MAX)
    assert.ok(passed >= PER_MINUTE / 10 - 1, `${passed} passed`)
    assertTooMany(refused)
    const { secret } = await seed()
    assert.equal(
      (await ask(baseUrl, '/me/prompts', { secret, headers })).status,
      429,
      'unknown yet',
    )
    assert.equal((await ask(baseUrl, '/me/prompts', { secret })).status, 200)
    const known = await ask(baseUrl, '/me/prompts', { secret, headers })
    assert.equal(known.status, 200, 'a key in use passes from an address that tried wrong ones')
  })

  test('public routes and requests without credentials are counted together by address', async () => {
    const headers = from(elsewhere())
    let place = 0
    const paths = ['/models', '/me/prompts', '/fx-rates', '/auth/get-session']
    const call = () => ask(baseUrl, paths[place++ % paths.length] as string, { headers })
    const { passed, refused } = await countUntilRefused(call, PER_MINUTE + GIVEN_BACK_MAX)
    assert.ok(passed >= PER_MINUTE, `${passed} passed`)
    assertTooMany(refused)
    for (const path of ['/healthz', '/healthz/db'])
      assert.equal((await ask(baseUrl, path, { headers })).status, 200, path)
  })

  test('unknown paths and methods count, files of the dashboard and unsigned messages a tenth', async () => {
    for (const [method, path, perMinute] of [
      ['GET', '/nothing', PER_MINUTE],
      ['PUT', '/models', PER_MINUTE],
      ['OPTIONS', '/chat/completions', PER_MINUTE],
      ['POST', '/inbound/nothing', PER_MINUTE],
      ['GET', '/../metrics', PER_MINUTE * 10],
    ] as const) {
      const headers = from(elsewhere())
      const call = () => ask(baseUrl, path, { method, headers })
      const { passed, refused } = await countUntilRefused(call, perMinute + GIVEN_BACK_MAX * 10)
      assert.ok(passed >= perMinute, `${method} ${path}: ${passed} passed`)
      assert.equal(refused.headers.get('connection'), 'close')
    }
  })

  test('a refusal for the pace ends its connection, and nothing sent behind it is served', async () => {
    const { port } = new URL(baseUrl)
    for (const path of ['/v1/nothing', '/v1/models', '/v1/chat/completions']) {
      const method = path.endsWith('completions') ? 'POST' : 'GET'
      const network = elsewhere()
      const asked = { method, headers: from(network) }
      await countUntilRefused(() => ask(baseUrl, path.slice('/v1'.length), asked), 100)
      const socket = connect(Number(port), '127.0.0.1')
      socket.on('error', () => {})
      let text = ''
      socket.on('data', (part) => (text += String(part)))
      socket.write(
        `${method} ${path} HTTP/1.1\r\nhost: x\r\nx-forwarded-for: ${network}\r\n\r\n`.repeat(15),
      )
      await once(socket, 'close')
      assert.equal(text.match(/HTTP\/1\.1 429 /g)?.length, 1, path)
      assert.match(text.slice(text.indexOf('HTTP/1.1 429')), /connection: close/i)
    }
  })

  test('all addresses of an IPv6 /64 count as one, and a /48 has ten times as much', async () => {
    let host = 0
    const near = () => ask(baseUrl, '/models', { headers: from(`2001:db8:1:1::${++host}`) })
    const { passed } = await countUntilRefused(near, PER_MINUTE + GIVEN_BACK_MAX)
    assert.ok(passed >= PER_MINUTE)
    let network = 1
    const wide = () => ask(baseUrl, '/models', { headers: from(`2001:db8:1:${++network}::1`) })
    const refused = await countUntilRefused(wide, PER_MINUTE * 10 + 10 * GIVEN_BACK_MAX)
    assertTooMany(refused.refused)
    const other = await ask(baseUrl, '/models', { headers: from('2001:db8:2:1::1') })
    assert.equal(other.status, 200)
  })

  test('model calls of an IPv6 /64 share the limit of an address, and those of a /48 have ten', async () => {
    await avoidMinuteEnd(20_000)
    let host = 0
    const near = () => askChat(baseUrl, WRONG, '{', from(`2001:db8:3:1::${++host}`))
    const limited = await countUntilRefused(near, 25)
    assert.equal(limited.passed, 20)
    assertRefusal(limited.refused, 429, 'rate_limit_exceeded')
    let network = 1
    const wide = () => askChat(baseUrl, WRONG, '{', from(`2001:db8:3:${++network}::1`))
    const { passed, refused } = await countUntilRefused(wide, 400)
    assert.ok(passed < 20 * 10 + 10 * GIVEN_BACK_MAX)
    assertRefusal(refused, 429, 'rate_limit_exceeded')
  })
})
