// deep: generated requests and reports
/** Moderations over real sockets: their results and costs, with an upstream that reports what it likes. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { assertRefusal } from '../harness/assert-answer.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { ask, type Asked } from '../harness/ask.ts'
import { beginBatch, readResultFile, untilEnded } from '../harness/batches.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import fc from '../harness/fast-check.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  amountIn,
  assertUntouched,
  nanoBrl,
  perMillion,
  theOutcome,
} from '../harness/media-calls.ts'
import { startScriptedUpstream, type ScriptedUpstream } from '../harness/scripted-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'

const FX_RATE = '5'
const MARKUP = '1.25'
const PNG = `data:image/png;base64,${Buffer.from('89504e470d0a1a0a0000000d', 'hex').toString('base64')}`

let upstream: ScriptedUpstream
let configFile: ConfigFile
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  const model = (id: string, input: string, more: object = { moderation: true }): unknown => ({
    id,
    category: 'embedding',
    context_tokens: 4_000,
    image_tokens_max: 1_000,
    markup_multiplier: MARKUP,
    routes: [{ upstream: 'up', model: id }],
    prices: { input },
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
      model('priced', '0.1'),
      // As OpenAI sells it.
      model('omni-moderation-latest', '0'),
      model('dear', '100000'),
      model('texts', '0.1', { moderation: true, image_tokens_max: 0 }),
      model('vectors', '0.1', {}),
    ] as never,
  })
  gateway = await startGateway({ CATRACA_CONFIG: configFile.path, SANDBOX_FX_RATE: FX_RATE })
})
after(async () => {
  await gateway?.stop()
  await upstream?.close()
  await configFile?.remove()
})

const judge = (body: object, secret: string = gateway.secret): Promise<Asked> =>
  ask(gateway.node.baseUrl, '/moderations', { secret, body })

const image = (url: string): object => ({ type: 'image_url', image_url: { url } })
const words = (text: string): object => ({ type: 'text', text })
const result = {
  flagged: true,
  categories: { violence: true, illicit: null },
  category_scores: { violence: 0.9 },
  category_applied_input_types: { violence: ['text'] },
}

/** Plays as many results as OpenAI gives for the input, with fields that nobody knows. */
function play(model: string, usage?: unknown): void {
  upstream.play(model, ({ body }, response) => {
    const input = body.input as unknown[]
    const count = typeof input[0] === 'string' ? input.length : 1
    const results = Array.from({ length: count }, () => ({ ...result, provider: 'theirs' }))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ id: 'theirs', model: 'theirs', results, usage }))
  })
}

test('a text, a list of texts and the parts of one input are judged, and cost the tokens that the upstream reports', async () => {
  for (const [input, sent, count] of [
    ['Oi', ['Oi'], 1],
    [['Oi', 'Vou matar'], ['Oi', 'Vou matar'], 2],
    [[{ ...words('Oi'), x: 1 }, image(PNG)], [words('Oi'), image(PNG)], 1],
  ] as const) {
    play('priced', { prompt_tokens: 7, total_tokens: 7 })
    const answer = await judge({ model: 'priced', input, safety: 'low' })
    assert.equal(answer.status, 200, answer.text)
    const { id, model, results, usage } = answer.json
    assert.match(id, /^modr-[0-9a-f-]{36}$/)
    assert.deepEqual([model, results], ['priced', Array.from({ length: count }, () => result)])
    assert.deepEqual(usage, { prompt_tokens: 7, total_tokens: 7 })
    assert.deepEqual(upstream.callsOf('priced').at(-1)?.body, { model: 'priced', input: sent })
    const outcome = await theOutcome(gateway, answer.requestId)
    const expected = nanoBrl(perMillion(7, '0.1'), FX_RATE, MARKUP)
    assert.deepEqual([outcome.usage_kind, outcome.cost_billed_nano_brl], ['exact', expected])
    assert.equal(amountIn(answer.text, 'cost_billed_brl'), expected)
  }
})

test('an answer without "flagged", as Mistral has it, is flagged by its categories', async () => {
  for (const violence of [true, false]) {
    upstream.play('priced', (_call, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const { category_scores } = result
      response.end(JSON.stringify({ results: [{ categories: { violence }, category_scores }] }))
    })
    const answer = await judge({ model: 'priced', input: 'Oi' })
    assert.equal(answer.json.results[0].flagged, violence, answer.text)
  }
})

test('a model without a price for its tokens is held for, and charges nothing; it is the one of a request that names none', async () => {
  play('omni-moderation-latest')
  const answer = await judge({ input: 'Oi' })
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.json.model, 'omni-moderation-latest')
  assert.equal(answer.json.cost_billed_brl, 0)
  const outcome = await theOutcome(gateway, answer.requestId)
  assert.deepEqual(
    [outcome.outcome, outcome.held_nano_brl, outcome.cost_billed_nano_brl],
    ['charged', 1n, 0n],
  )
  // Nor does a report that is no number of tokens, or more than there can be, cost anything.
  for (const tokens of [0, 2 ** 31, 2 ** 53, 1e300]) {
    play('omni-moderation-latest', { prompt_tokens: tokens })
    const { status, json, text } = await judge({ input: 'Oi' })
    assert.deepEqual([status, json.cost_billed_brl], [200, 0], text)
  }
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '0' })
  assertRefusal(await judge({ input: 'Oi' }, secret), 402, 'insufficient_balance')
})

test('lines of a batch are judged and charged as calls, also by a model at no price', async () => {
  const { node, database } = gateway
  const { customerId, secret } = await seedCustomer(database.db, { balanceBrl: '10' })
  play('priced', { prompt_tokens: 7, total_tokens: 7 })
  play('omni-moderation-latest')
  const endpoint = '/v1/moderations'
  const line = (custom_id: string, body: object): object => ({
    custom_id,
    method: 'POST',
    url: endpoint,
    body,
  })
  const lines = [
    line('pago', { model: 'priced', input: ['Oi', 'Vou matar'] }),
    line('de graça', { input: [words('Oi'), image(PNG)] }),
    line('de vetores', { model: 'vectors', input: 'Oi' }),
    line('sem texto', { model: 'priced' }),
  ]
  const id = await beginBatch(node.baseUrl, secret, lines, endpoint)
  const ended = await untilEnded(node.baseUrl, secret, id)
  assert.deepEqual(ended.request_counts, { total: 4, completed: 2, failed: 2 })
  const judged = await readResultFile(node.baseUrl, secret, ended.output_file_id)
  const cost = nanoBrl(perMillion(7, '0.1'), FX_RATE, MARKUP)
  assert.deepEqual(
    judged.map(({ custom_id, response }) => [
      custom_id,
      response?.body.results.length,
      response?.body.cost_billed_brl,
    ]),
    [
      ['pago', 2, Number(cost) / 1e9],
      ['de graça', 1, 0],
    ],
  )
  const refused = await readResultFile(node.baseUrl, secret, ended.error_file_id)
  assert.deepEqual(
    refused.map(({ custom_id, response }) => [custom_id, response?.status_code]),
    [
      ['de vetores', 400],
      ['sem texto', 400],
    ],
  )
  const account = await findAccount(database.db, customerId)
  assert.deepEqual([account?.balanceNanoBrl, account?.heldNanoBrl], [10n * 10n ** 9n - cost, 0n])
  await assertAudit(database)
})

test('whatever the upstream reports of a moderation, it costs at most its hold, at least something, and the balance stays', async () => {
  const text = fc.string({ maxLength: 800 })
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        text,
        fc.array(text, { minLength: 1, maxLength: 40 }),
        fc.array(fc.oneof(text.map(words), fc.constant(image(PNG))), {
          minLength: 1,
          maxLength: 5,
        }),
      ),
      fc.constantFrom(undefined, null, 'x', -1, 0, 0.5, 1, 2, 100, 5_000, 2 ** 31, 2 ** 53),
      async (input, tokens) => {
        const { db } = gateway.database
        const { secret, customerId } = await seedCustomer(db, { balanceBrl: '5' })
        play('priced', { prompt_tokens: tokens })
        const answer = await judge({ model: 'priced', input }, secret)
        assert.equal(answer.status, 200, answer.text)
        const outcome = await theOutcome(gateway, answer.requestId)
        const billed = outcome.cost_billed_nano_brl
        assert.ok(billed > 0n && billed <= outcome.held_nano_brl, `${billed}`)
        assert.equal(amountIn(answer.text, 'cost_billed_brl'), billed)
        if (outcome.usage_kind === 'exact') assert.equal(outcome.prompt_tokens, tokens)
        const account = await findAccount(db, customerId)
        assert.ok(account && account.balanceNanoBrl >= 0n)
      },
    ),
    { numRuns: 40 },
  )
})

test('400 invalid_request: each faulty field of a moderation, in Portuguese, and nothing is held', async () => {
  const refused = await Promise.all(
    [
      {},
      { input: null },
      { input: 1 },
      { input: [] },
      { input: [1] },
      { input: ['a', words('b')] },
      { input: [{ type: 'text' }] },
      { input: [{ type: 'input_audio' }] },
      { input: [image('file:///etc/passwd')] },
      { input: [image('http://127.0.0.1/a.png')] },
      { input: [image('data:text/html;base64,AAAA')] },
      { input: Array.from({ length: 2_049 }, () => 'x') },
      { input: 'x', model: 'vectors' },
      { input: 'x', model: 'sandbox-chat' },
      { input: [image(PNG)], model: 'texts' },
    ].map((fault) => judge({ model: 'priced', ...fault })),
  )
  for (const answer of refused) assertRefusal(answer, 400, 'invalid_request')
  const vectors = await ask(gateway.node.baseUrl, '/embeddings', {
    secret: gateway.secret,
    body: { model: 'priced', input: 'x' },
  })
  assertRefusal(vectors, 400, 'invalid_request')
  await assertUntouched(
    gateway,
    [...refused, vectors].map(({ requestId }) => requestId),
  )
})

test('a balance below the hold of a moderation is refused, and answers without a judgement cost nothing', async () => {
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '1' })
  assertRefusal(await judge({ model: 'dear', input: 'Oi' }, secret), 402, 'insufficient_balance')
  for (const results of [[], 'x', [result, result], [{ flagged: true }], [null]]) {
    upstream.play('priced', (_call, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ results }))
    })
    const answer = await judge({ model: 'priced', input: 'Oi' })
    assertRefusal(answer, 502, 'upstream_error')
    assert.equal((await theOutcome(gateway, answer.requestId)).outcome, 'released')
  }
})

test('the shield masks each text of a moderation before it leaves', async () => {
  const { db } = gateway.database
  const { secret, customerId } = await seedCustomer(db, { balanceBrl: '5' })
  await db
    .updateTable('customers')
    .set({ shield_action: 'mask' })
    .where('id', '=', customerId)
    .execute()
  play('priced')
  const text = 'O CPF é 529.982.247-25'
  for (const input of [text, ['Oi', text], [words(text), image(PNG)]]) {
    const answer = await judge({ model: 'priced', input }, secret)
    assert.equal(answer.status, 200, answer.text)
    assert.doesNotMatch(String(upstream.callsOf('priced').at(-1)?.text), /529/)
  }
})

test('after all moderations the audit is clean', () => assertAudit(gateway.database))
