/** The default limits, their headers, and a client that waits for `retry-after`. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { decimalBrl, parseBrl } from '../../src/platform/lib/money.ts'
import { avoidMinuteEnd } from '../harness/avoid-minute-end.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { ask, askChat, billedIn, sound, type Asked } from '../harness/ask.ts'
import { assertHeaders, assertRefusal } from '../harness/assert-answer.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  good,
  startScriptedUpstream,
  status,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'

let upstream: ScriptedUpstream
let config: ConfigFile
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  config = await writeConfigFile({
    upstreams: [{ id: 'seen', kind: 'openai-compatible', base_url: upstream.baseUrl, retries: 0 }],
    models: [
      {
        id: 'instavel',
        category: 'llm',
        prices: { input: 1, output: 100 },
        routes: [{ upstream: 'seen', model: 'instavel' }],
        context_tokens: 128_000,
        max_output_tokens: 1_000,
      },
    ] as never,
  })
  // Empty is as not set: the defaults hold.
  gateway = await startGateway({
    CATRACA_CONFIG: config.path,
    RATE_LIMIT_PER_IP: '',
    TRUST_PROXY: '127.0.0.1',
  })
})

after(async () => {
  await upstream.close()
  await config.remove()
  await gateway.stop()
})

/** Until the first that is not answered with this status; all within one minute. */
async function countUntilLimited(expected: number, call: () => Promise<Asked>): Promise<Asked[]> {
  await avoidMinuteEnd(10_000)
  const answers: Asked[] = []
  while (answers.length < 150) {
    const answer = await call()
    answers.push(answer)
    if (answer.status !== expected) return answers
  }
  return answers
}

test('the default limit of an address is 100 model calls a minute', async () => {
  const headers = { 'x-forwarded-for': '10.9.0.1' }
  const call = (): Promise<Asked> => askChat(gateway.node.baseUrl, undefined, '{', headers)
  const answers = await countUntilLimited(401, call)
  assert.equal(answers.length, 101)
  assert.equal(answers[0]?.headers.get('x-ratelimit-limit'), '100')
  assertRefusal(answers.at(-1) as Asked, 429, 'rate_limit_exceeded')
  const rest = await ask(gateway.node.baseUrl, '/models', { headers })
  assert.equal(rest.status, 200, 'only model calls are limited')
})

test('the default limit of a key is 120 model calls a minute', async () => {
  const body = { name: 'sem limite próprio', model_ids: ['sandbox-chat'] }
  const made = await ask(gateway.node.baseUrl, '/api-keys', { secret: gateway.secret, body })
  let number = 0
  const answers = await countUntilLimited(400, () => {
    number += 1
    const headers = { 'x-forwarded-for': `10.9.1.${number}` }
    return askChat(gateway.node.baseUrl, made.json.key, '{', headers)
  })
  assert.equal(answers.length, 121)
  assert.equal(answers[0]?.headers.get('x-ratelimit-limit'), '120')
  assert.equal(answers[0]?.headers.get('x-ratelimit-remaining'), '119')
  assertRefusal(answers.at(-1) as Asked, 429, 'api_key_rate_limited')
})

test('a key reaches its limit above 100 a minute from one address', async () => {
  const { secret } = await seedCustomer(gateway.database.db, {
    balanceBrl: '10',
    requestsPerMinute: 110,
  })
  const headers = { 'x-forwarded-for': '10.9.3.1' }
  const call = () => askChat(gateway.node.baseUrl, secret, sound('sandbox-chat'), headers)
  await avoidMinuteEnd(30_000)
  const answers = await Promise.all(Array.from({ length: 111 }, call))
  const passed = answers.filter(({ status }) => status === 200)
  assert.equal(passed.length, 110)
  for (const { headers } of passed) assert.equal(headers.get('x-ratelimit-limit'), '110')
  const refused = answers.find(({ status }) => status !== 200) as Asked
  assertRefusal(refused, 429, 'api_key_rate_limited')
  assert.equal(refused.headers.get('x-ratelimit-remaining'), '0')
})

test('x-ratelimit-reset is the Unix second of the next window, and only a 429 has retry-after', async () => {
  await avoidMinuteEnd()
  const { secret } = await seedCustomer(gateway.database.db, {
    balanceBrl: '10',
    requestsPerMinute: 1,
  })
  const headers = { 'x-forwarded-for': '10.9.2.1' }
  const nextMinute = (Math.floor(Date.now() / 60_000) + 1) * 60
  const served = await askChat(gateway.node.baseUrl, secret, sound(), headers)
  const refused = await askChat(gateway.node.baseUrl, secret, sound(), headers)
  assert.deepEqual([served.status, refused.status], [200, 429])
  for (const answer of [served, refused]) {
    assertHeaders(answer, answer.requestId)
    assert.equal(answer.headers.get('x-ratelimit-reset'), String(nextMinute))
  }
  const wait = Number(refused.headers.get('retry-after'))
  assert.ok(wait >= 1 && Math.abs(nextMinute - Date.now() / 1000 - wait) < 2, `${wait} s`)
  for (const path of ['/usage', '/models', '/none'])
    assert.equal(
      (await ask(gateway.node.baseUrl, path, { secret })).headers.get('retry-after'),
      null,
    )
  assert.equal(served.headers.get('retry-after'), null)
})

/** What the specification recommends to clients, word by word. */
async function askPatiently(call: () => Promise<Asked>): Promise<Asked[]> {
  const answers: Asked[] = []
  for (let index = 0; index < 5; index++) {
    const answer = await call()
    answers.push(answer)
    if (answer.status !== 429 && answer.status < 500) return answers
    const wait = Number(answer.headers.get('retry-after') ?? 1) * 2 ** index
    if (index < 4) await sleep(Math.min(wait, 30) * 1000)
  }
  return answers
}

test('a client that retries as recommended gets its answer, and is charged once', async () => {
  upstream.play('instavel', status(503), status(429, { 'retry-after': '1' }), good)
  const { secret, customerId } = await seedCustomer(gateway.database.db, { balanceBrl: '10' })
  const headers = { 'x-forwarded-for': '10.9.3.1' }
  const answers = await askPatiently(() =>
    askChat(gateway.node.baseUrl, secret, sound('instavel'), headers),
  )
  assert.deepEqual(
    answers.map((answer) => [answer.status, answer.headers.get('retry-after')]),
    [
      [503, null],
      [429, '1'],
      [200, null],
    ],
  )
  const billed = billedIn(answers.at(-1)?.text ?? '') as string
  const account = await findAccount(gateway.database.db, customerId)
  const paid = (parseBrl('10') as bigint) - (account?.balanceNanoBrl as bigint)
  assert.equal(decimalBrl(paid), billed)
})
