/** `provider`, `:floor` and `:nitro`: the routes that a caller asks for, in every format, over a socket. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { CatalogConfig } from '../../src/money/catalog/catalog-config-schema.ts'
import { ask, type Asked } from '../harness/ask.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  good,
  startScriptedUpstream,
  status,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'

const FORMATS = {
  'chat completions': {
    path: '/chat/completions',
    model: 'routed',
    body: { max_tokens: 20, messages: [{ role: 'user', content: 'Olá.' }] },
  },
  'text completions': {
    path: '/completions',
    model: 'routed',
    body: { max_tokens: 20, prompt: 'Olá.' },
  },
  Responses: {
    path: '/responses',
    model: 'routed',
    body: { max_output_tokens: 20, input: 'Olá.' },
  },
  Messages: {
    path: '/messages',
    model: 'routed',
    body: { max_tokens: 20, messages: [{ role: 'user', content: 'Olá.' }] },
  },
  embeddings: {
    path: '/embeddings',
    model: 'routed-vectors',
    body: { input: 'Olá.' },
  },
} as const
type Format = (typeof FORMATS)[keyof typeof FORMATS]

let upstream: ScriptedUpstream
let file: ConfigFile
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  file = await writeConfigFile(configOf(upstream.baseUrl))
  gateway = await startGateway({ CATRACA_CONFIG: file.path, TEST_ANTHROPIC_KEY: 'key' })
})

after(async () => {
  await assertAudit(gateway.database)
  await gateway.stop()
  await upstream.close()
  await file.remove()
})

function configOf(base_url: string): CatalogConfig {
  const common = { kind: 'openai-compatible', base_url, retries: 0, breaker: { failures: 0 } }
  const llm = {
    category: 'llm',
    vendor: 'acme',
    markup_multiplier: '2',
    context_tokens: 8_192,
    max_output_tokens: 256,
  } as const
  const prices = { input: '3', output: '4' }
  const route = (upstreamId: string, model: string, input: string) => ({
    upstream: upstreamId,
    model,
    prices: { input, output: '4' },
  })
  return {
    upstreams: [
      { ...common, id: 'contract-7' },
      { ...common, id: 'second', provider_name: 'Alpha', collects_data: false },
      { ...common, id: 'third', provider_name: 'beta/fast' },
      { ...common, id: 'native-responses', speaks_responses: true },
      { ...common, id: 'native-messages', kind: 'anthropic', api_key_env: 'TEST_ANTHROPIC_KEY' },
    ],
    models: [
      {
        ...llm,
        id: 'routed',
        prices,
        routes: [
          route('contract-7', 'x-acme', '3'),
          route('second', 'x-alpha', '2'),
          route('third', 'x-beta', '1'),
        ],
      },
      { ...llm, id: 'reserve', prices, routes: [route('second', 'x-reserve', '2')] },
      {
        ...llm,
        id: 'in-own-formats',
        prices,
        routes: [
          route('native-responses', 'x-responses', '3'),
          route('native-messages', 'x-messages', '3'),
        ],
      },
      {
        ...llm,
        id: 'routed-vectors',
        category: 'embedding',
        embedding: { dimensions: 2 },
        prices: { input: '3' },
        routes: [
          { upstream: 'contract-7', model: 'x-acme', prices: { input: '3' } },
          { upstream: 'second', model: 'x-alpha', prices: { input: '2' } },
          { upstream: 'third', model: 'x-beta', prices: { input: '1' } },
        ],
      },
    ],
  }
}

const NAMES = ['x-acme', 'x-alpha', 'x-beta', 'x-reserve']

/** Sends a request, and returns its answer and the upstream models that it was sent to, in their order. */
async function call(
  { path, model, body }: Format,
  more: Record<string, unknown>,
): Promise<{ answer: Asked; called: string[] }> {
  const before = new Map(NAMES.map((name) => [name, upstream.callsOf(name).length]))
  const { secret } = gateway
  const answer = await ask(gateway.node.baseUrl, path, {
    secret,
    body: { model, ...body, ...more },
  })
  const calls = NAMES.flatMap((name) => upstream.callsOf(name).slice(before.get(name)))
  for (const { body: sent } of calls)
    for (const field of ['provider', 'models']) assert.ok(!(field in sent), field)
  const called = calls.toSorted((one, other) => one.atMs - other.atMs).map((each) => each.model)
  return { answer, called }
}

for (const [name, format] of Object.entries(FORMATS)) {
  test(`${name}: without a model, the first of the list is the one`, async () => {
    const models = name === 'embeddings' ? [format.model] : [format.model, 'reserve']
    const { answer } = await call(format, { model: undefined, models })
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.json.model, format.model)
    const none = await call(format, { model: undefined, models: [] })
    assert.equal(none.answer.status, 400, none.answer.text)
  })
}

for (const [name, format] of Object.entries(FORMATS)) {
  test(`${name}: a caller chooses who answers, and nobody else is asked`, async () => {
    const chosen = async (provider: object, more: object = {}) => {
      const { answer, called } = await call(format, { provider, ...more })
      assert.equal(answer.status, 200, answer.text)
      for (const secret of ['contract-7', 'second', 'third', 'x-'])
        assert.ok(!answer.text.includes(secret), secret)
      return called
    }
    assert.deepEqual(await chosen({ only: ['alpha'], unknown_wish: 1 }), ['x-alpha'])
    assert.deepEqual(await chosen({ only: ['acme'] }), ['x-acme'])
    assert.deepEqual(await chosen({ ignore: ['acme', 'ALPHA'] }), ['x-beta'])
    assert.deepEqual(await chosen({ order: ['beta', 'alpha'] }), ['x-beta'])
    assert.deepEqual(await chosen({ sort: 'price' }), ['x-beta'])
    assert.deepEqual(await chosen({ data_collection: 'deny' }), ['x-alpha'])
    // The customer pays twice the price of the upstream.
    assert.deepEqual(await chosen({ max_price: { prompt: 3.99 }, order: ['acme'] }), ['x-beta'])
    assert.deepEqual(await chosen({ max_price: { prompt: '4' } }), ['x-alpha'])
    assert.deepEqual(await chosen({}, { model: `${format.model}:floor` }), ['x-beta'])
    assert.equal((await chosen({}, { model: `${format.model}:nitro` })).length, 1)
  })

  test(`${name}: if nobody is left, the answer is a 404; if a wish has no form, a 400`, async () => {
    const refused = async (provider: unknown) => {
      const { answer, called } = await call(format, { provider })
      assert.deepEqual(called, [])
      assert.match(answer.json.error.message, /provider/)
      return [answer.status, answer.json.error.code]
    }
    for (const provider of [
      // The operator's own name of an upstream is no name of a provider.
      { only: ['contract-7'] },
      { only: ['second'] },
      { ignore: ['acme', 'alpha', 'beta'] },
      { max_price: { prompt: 1.99 } },
      { max_price: { prompt: 0 } },
      { order: ['nobody'], allow_fallbacks: false },
    ])
      assert.deepEqual(await refused(provider), [404, 'no_route_for_provider'])
    for (const provider of [
      'alpha',
      { only: 'alpha' },
      { order: [1] },
      { sort: 'luck' },
      { max_price: 3 },
      { max_price: { prompt: 'cheap' } },
      { max_price: { prompt: -1 } },
      { max_price: { image: 1 } },
      { allow_fallbacks: 'no' },
      { data_collection: 'never' },
      { zdr: true },
    ])
      assert.deepEqual(await refused(provider), [400, 'invalid_request'], JSON.stringify(provider))
  })

  test(`${name}: without fallbacks neither another route nor a fallback model is asked`, async (t) => {
    upstream.play('x-alpha', status(500))
    t.after(() => upstream.play('x-alpha', good))
    const provider = { order: ['alpha'] }
    assert.deepEqual((await call(format, { provider })).called.slice(0, 1), ['x-alpha'])
    const models = format.model === 'routed' ? ['reserve'] : undefined
    const { answer, called } = await call(format, {
      models,
      provider: { ...provider, allow_fallbacks: false },
    })
    assert.equal(answer.status, 502)
    assert.deepEqual(called, ['x-alpha'])
  })
}

test('what routing saved stands on each charge: the most expensive route that could answer, for the same usage', async () => {
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '10' })
  const read = async (path: string) => (await ask(gateway.node.baseUrl, path, { secret })).json
  // USD per million tokens of a prompt, of the route that answers and of the most expensive one that could.
  const wishes = [
    [{ sort: 'price' }, 1, 3],
    [{ only: ['alpha', 'beta'], sort: 'price' }, 1, 2],
    [{ only: ['beta'] }, 1, 1],
    [{ only: ['acme'] }, 3, 3],
  ] as const
  for (const { path, model, body } of Object.values(FORMATS))
    for (const [provider] of wishes) {
      const asked = { secret, body: { model, ...body, provider } }
      assert.equal((await ask(gateway.node.baseUrl, path, asked)).status, 200)
    }
  await untilNoHoldIsOpen(gateway.database)
  const { calls } = await read('/usage/calls')
  const oldestFirst = (calls as Record<string, number>[]).toReversed()
  assert.equal(oldestFirst.length, Object.keys(FORMATS).length * wishes.length)
  for (const [place, charge] of oldestFirst.entries()) {
    const [, paid, highest] = wishes[place % wishes.length] as (typeof wishes)[number]
    const { prompt_tokens: prompt = 0, fx_rate: rate = 0, routing_saved_brl: saved = -1 } = charge
    assert.ok(prompt > 0)
    const more = ((highest - paid) * prompt * rate * 2) / 1e6
    assert.ok(Math.abs(saved - more) < 1.1e-9, `${place}: ${saved}, not ${more}`)
  }
  const { routing_saved_brl: sum } = await read('/me/recommendations')
  const each = oldestFirst.reduce(
    (total, charge) => total + (charge.routing_saved_brl as number),
    0,
  )
  assert.ok(Math.abs(sum - each) < 1e-12, `${sum}, not ${each}`)
})

test('a fallback model has only the routes that the caller lets answer', async (t) => {
  upstream.play('x-alpha', status(500))
  t.after(() => upstream.play('x-alpha', good))
  const { answer, called } = await call(FORMATS['chat completions'], {
    models: ['in-own-formats', 'reserve:floor'],
    provider: { only: ['alpha'] },
  })
  assert.equal(answer.json.model, 'reserve')
  assert.deepEqual(called, ['x-alpha', 'x-reserve'])
})

test('an upstream that gets the request as the client wrote it gets no wish for routes', async () => {
  for (const [format, sentTo] of [
    [FORMATS.Responses, 'x-responses'],
    [FORMATS.Messages, 'x-messages'],
  ] as const) {
    await call(format, {
      model: 'in-own-formats',
      models: ['reserve'],
      provider: { only: ['acme', 'alpha'], require_parameters: true },
    })
    const [seen] = upstream.callsOf(sentTo)
    assert.ok(seen)
    assert.ok(seen.path.endsWith(format.path))
    for (const field of ['provider', 'models']) assert.ok(!(field in seen.body), field)
  }
})
