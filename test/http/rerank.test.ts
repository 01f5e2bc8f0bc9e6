// deep: generated requests and reports
/** Rerank over real sockets: its results, units and costs, with an upstream that reports what it likes. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { assertRefusal } from '../harness/assert-answer.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { ask, type Asked } from '../harness/ask.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import fc from '../harness/fast-check.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  amountIn,
  assertUntouched,
  nanoBrl,
  rational,
  theOutcome,
  times,
} from '../harness/media-calls.ts'
import { startScriptedUpstream, type ScriptedUpstream } from '../harness/scripted-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'

const FX_RATE = '5'
const MARKUP = '1.25'
const PRICE = '0.002'

let upstream: ScriptedUpstream
let configFile: ConfigFile
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  const model = (id: string, prices: object, more: object = { rerank: true }): unknown => ({
    id,
    category: 'embedding',
    context_tokens: 512,
    markup_multiplier: MARKUP,
    routes: [{ upstream: 'up', model: id }],
    prices,
    ...more,
  })
  configFile = await writeConfigFile({
    upstreams: [
      {
        id: 'up',
        kind: 'openai-compatible',
        base_url: upstream.baseUrl,
        breaker: { failures: 0 },
      },
    ],
    models: [
      model('by-search', { search_unit: PRICE }),
      model('by-token', { input: '1' }),
      model('dear', { search_unit: '1000' }),
      model('vectors', { input: '1' }, {}),
    ] as never,
  })
  gateway = await startGateway({ CATRACA_CONFIG: configFile.path, SANDBOX_FX_RATE: FX_RATE })
})
after(async () => {
  await gateway?.stop()
  await upstream?.close()
  await configFile?.remove()
})

const rank = (body: object, secret: string = gateway.secret): Promise<Asked> =>
  ask(gateway.node.baseUrl, '/rerank', { secret, body })

const sound = (more: object = {}): object => ({
  model: 'by-search',
  query: 'reembolso',
  documents: ['um', { text: 'dois' }, 'três'],
  ...more,
})

/** Plays an answer that ranks every document, the last one first. */
function play(model: string, usage: object, name: 'results' | 'data' = 'results'): void {
  upstream.play(model, ({ body }, response) => {
    const { documents } = body as { documents: string[] }
    const ranks = documents.map((text, index) => ({
      index,
      relevance_score: index / documents.length,
      document: { text },
    }))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ id: 'theirs', [name]: ranks, ...usage }))
  })
}

const units = (count: unknown): object => ({ meta: { billed_units: { search_units: count } } })

test('documents come back in the order of their scores, and cost the units that the upstream bills', async () => {
  for (const name of ['results', 'data'] as const) {
    play('by-search', units(1), name)
    const answer = await rank(sound({ top_n: 2, return_documents: true }))
    assert.equal(answer.status, 200, answer.text)
    const { id, results, meta } = answer.json
    assert.notEqual(id, 'theirs')
    assert.deepEqual(results, [
      { index: 2, relevance_score: 2 / 3, document: { text: 'três' } },
      { index: 1, relevance_score: 1 / 3, document: { text: 'dois' } },
    ])
    assert.deepEqual(meta.billed_units, { search_units: 1 })
    const expected = nanoBrl(times(rational(PRICE), rational('1')), FX_RATE, MARKUP)
    assert.equal(amountIn(answer.text, 'cost_billed_brl'), expected)
    const outcome = await theOutcome(gateway, answer.requestId)
    assert.deepEqual(
      [outcome.usage_kind, outcome.units, outcome.prompt_tokens, outcome.cost_billed_nano_brl],
      ['exact', { search_units: 1 }, 0, expected],
    )
  }
  assert.deepEqual(upstream.callsOf('by-search').at(-1)?.body, {
    model: 'by-search',
    query: 'reembolso',
    documents: ['um', 'dois', 'três'],
  })
})

test('the sandbox ranks by common words, and a long list costs several units', async () => {
  const documents = ['O saldo não vence.', ...Array.from({ length: 150 }, () => 'Outro texto.')]
  const answer = await rank({ model: 'sandbox-rerank', query: 'o saldo vence', documents })
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(answer.json.results[0], { index: 0, relevance_score: 1 })
  assert.equal(answer.json.results.length, documents.length)
  assert.deepEqual(answer.json.meta.billed_units, { search_units: 2 })
})

test('whatever the upstream reports, a rerank costs at most its hold, at least something, and the balance stays', async () => {
  const text = fc.string({ minLength: 1, maxLength: 1_500 })
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('by-search', 'by-token'),
      text,
      fc.array(text, { minLength: 1, maxLength: 230 }),
      fc.constantFrom(undefined, null, 'x', -1, 0, 0.5, 1, 2, 3, 500, 2 ** 31, 2 ** 53),
      async (model, query, documents, count) => {
        const { db } = gateway.database
        const { secret, customerId } = await seedCustomer(db, { balanceBrl: '20' })
        play(model, { ...units(count), usage: { total_tokens: count } })
        const answer = await rank({ model, query, documents }, secret)
        assert.equal(answer.status, 200, answer.text)
        const outcome = await theOutcome(gateway, answer.requestId)
        const billed = outcome.cost_billed_nano_brl
        assert.ok(billed > 0n && billed <= outcome.held_nano_brl, `${billed}`)
        assert.equal(amountIn(answer.text, 'cost_billed_brl'), billed)
        if (outcome.usage_kind === 'exact') {
          const { search_units: searches } = outcome.units ?? {}
          assert.equal(model === 'by-search' ? searches : outcome.prompt_tokens, count)
          assert.ok(Number(count) >= (model === 'by-search' ? 1 : documents.length))
        }
        const account = await findAccount(db, customerId)
        assert.ok(account && account.balanceNanoBrl >= 0n)
      },
    ),
    { numRuns: 40 },
  )
})

/** As Cohere counts: documents longer than 500 tokens with the query are several; here every byte is a token. */
test('the hold covers what the longest documents can cost in search units', async () => {
  for (const [query, document, count] of [
    ['q', 'a b '.repeat(100), 100],
    ['q'.repeat(200), 'x'.repeat(2_000), 40],
    ['q'.repeat(3_000), 'x'.repeat(900), 100],
  ] as const) {
    const room = 500 - Math.min(query.length, 250)
    const billed = Math.ceil((count * Math.ceil(document.length / room)) / 100)
    play('by-search', units(billed))
    const answer = await rank(
      sound({ query, documents: Array.from({ length: count }, () => document) }),
    )
    const outcome = await theOutcome(gateway, answer.requestId)
    assert.deepEqual([outcome.usage_kind, outcome.units], ['exact', { search_units: billed }])
  }
})

test('400 invalid_request: each faulty field of a rerank, in Portuguese, and nothing is held', async () => {
  const many = Array.from({ length: 1_001 }, () => 'x')
  const refused = await Promise.all(
    [
      { query: undefined },
      { query: '' },
      { query: 1 },
      { documents: undefined },
      { documents: [] },
      { documents: 'um' },
      { documents: ['um', ''] },
      { documents: [{ title: 'x' }] },
      { documents: many },
      { top_n: 0 },
      { top_n: '2' },
      { return_documents: 'yes' },
      { max_tokens_per_doc: 0 },
      { model: 'vectors' },
      { model: 'sandbox-chat' },
    ].map((fault) => rank(sound(fault))),
  )
  for (const answer of refused) assertRefusal(answer, 400, 'invalid_request')
  const vectors = await ask(gateway.node.baseUrl, '/embeddings', {
    secret: gateway.secret,
    body: { model: 'by-token', input: 'x' },
  })
  assertRefusal(vectors, 400, 'invalid_request')
  await assertUntouched(
    gateway,
    [...refused, vectors].map(({ requestId }) => requestId),
  )
})

test('a balance below the hold of a rerank is refused, and answers without a rank cost nothing', async () => {
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '1' })
  assertRefusal(await rank(sound({ model: 'dear' }), secret), 402, 'insufficient_balance')
  for (const results of [
    [],
    'x',
    [{ index: 3, relevance_score: 1 }],
    [{ index: 0 }],
    [
      { index: 0, relevance_score: 1 },
      { index: 0, relevance_score: 1 },
    ],
  ]) {
    upstream.play('by-search', (_call, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ results, ...units(1) }))
    })
    const answer = await rank(sound())
    assertRefusal(answer, 502, 'upstream_error')
    assert.equal((await theOutcome(gateway, answer.requestId)).outcome, 'released')
  }
})

test('the shield masks the query and each document of a rerank before they leave', async () => {
  const { db } = gateway.database
  const { secret, customerId } = await seedCustomer(db, { balanceBrl: '5' })
  await db
    .updateTable('customers')
    .set({ shield_action: 'mask' })
    .where('id', '=', customerId)
    .execute()
  play('by-search', units(1))
  const cpf = '529.982.247-25'
  const answer = await rank(
    sound({ query: `Quem tem ${cpf}?`, documents: ['Ninguém', `O CPF é ${cpf}`] }),
    secret,
  )
  assert.equal(answer.status, 200, answer.text)
  assert.doesNotMatch(String(upstream.callsOf('by-search').at(-1)?.text), /529/)
})

test('after all reranks the audit is clean', () => assertAudit(gateway.database))
