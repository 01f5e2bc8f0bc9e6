/** Embeddings over real sockets: their costs, refusals and failures. */
import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomUUID } from 'node:crypto'
import {
  startSandboxUpstream,
  type SandboxUpstream,
} from '../../src/sandbox/upstream/start-sandbox-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { ask, billedIn, type Asked } from '../harness/ask.ts'
import { assertHeaders, assertRefusal } from '../harness/assert-answer.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  amountIn,
  assertUntouched,
  impatientModels,
  impatientUpstream,
  configured,
  FAULTY_MODELS,
  nanoBrl,
  outcomesOf,
  perMillion,
  rational,
  theOutcome,
  times,
  UPSTREAM_FAULTS,
} from '../harness/media-calls.ts'

const FX_RATE = '5.4321'
const MARKUP = '1.2345'
const DIMENSIONS = 1_536

let sandbox: SandboxUpstream
let gateway: TestGateway

before(async () => {
  sandbox = await startSandboxUpstream()
  const embedding = { dimensions: DIMENSIONS, can_shorten: true }
  const common = { category: 'embedding', context_tokens: 8_192, markup_multiplier: MARKUP }
  const served = ['sandbox-no-usage', 'sandbox-split', 'sandbox-flaky', 'sandbox-slow']
  gateway = await startGateway({
    SANDBOX_FX_RATE: FX_RATE,
    ...configured({
      upstreams: [impatientUpstream(sandbox.baseUrl)],
      models: [
        ...impatientModels([...FAULTY_MODELS, ...served], {
          ...common,
          embedding,
          prices: { input: '0.13' },
        }),
        ...['0.000001', '0.02', '7.654321'].map((input) => ({
          ...common,
          id: `at-${input}`,
          embedding,
          prices: { input },
          routes: [{ upstream: 'sandbox', model: 'sandbox-embedding' }],
        })),
        {
          ...common,
          id: 'two-prices',
          embedding,
          prices: { input: '0.1' },
          routes: [
            { upstream: 'impatient', model: 'sandbox-error-500' },
            { upstream: 'sandbox', model: 'sandbox-embedding', prices: { input: '0.7' } },
          ],
        },
        {
          ...common,
          id: 'of-one-length',
          embedding: { dimensions: DIMENSIONS, can_shorten: false },
          prices: { input: '0.1' },
          routes: [{ upstream: 'sandbox', model: 'sandbox-embedding' }],
        },
        {
          ...common,
          id: 'expensive',
          embedding,
          prices: { input: '1000' },
          routes: [{ upstream: 'sandbox', model: 'sandbox-embedding' }],
        },
      ],
    }),
  })
})

after(async () => {
  await gateway.stop()
  await sandbox.close()
})

const embed = (body: unknown, secret: string | undefined = gateway.secret): Promise<Asked> =>
  ask(gateway.node.baseUrl, '/embeddings', { secret, body })

const sound = (more: object = {}): Record<string, unknown> => ({
  model: 'sandbox-embedding',
  input: 'Olá, catraca!',
  ...more,
})

// ── prices ──────────────────────────────────────────────────────────────────────────────────────

for (const price of ['0.000001', '0.02', '7.654321']) {
  test(`an embedding at USD ${price} per million tokens costs exactly that, converted once, to the last digit`, async () => {
    for (const lengths of [
      [1],
      [7],
      [1_000, 3],
      [8_192],
      Array.from<number>({ length: 40 }).fill(11),
    ]) {
      const input = lengths.map((length) => Array.from({ length }, (_, token) => token))
      const tokens = lengths.reduce((sum, length) => sum + length, 0)
      const answer = await embed({ model: `at-${price}`, input })
      assert.equal(answer.status, 200, answer.text.slice(0, 300))
      assert.deepEqual(answer.json.usage, { prompt_tokens: tokens, total_tokens: tokens })
      const expected = nanoBrl(perMillion(tokens, price), FX_RATE, MARKUP)
      assert.equal(amountIn(answer.text, 'cost_billed_brl'), expected)
      const outcome = await theOutcome(gateway, answer.requestId)
      assert.equal(outcome.cost_billed_nano_brl, expected)
      assert.deepEqual(
        [outcome.outcome, outcome.usage_kind, outcome.prompt_tokens, outcome.completion_tokens],
        ['charged', 'exact', tokens, 0],
      )
      assert.ok(outcome.held_nano_brl >= (expected > 0n ? expected : 1n))
    }
  })
}

test('texts are billed by their tokens, and the hold covers any text', async () => {
  const texts = [
    'a',
    'ç'.repeat(300),
    '日本語の文章',
    '👩‍👩‍👧',
    ' '.repeat(50),
    '\u0000',
    'x'.repeat(8_000),
  ]
  for (const input of [...texts, texts]) {
    const answer = await embed({ model: 'at-7.654321', input })
    assert.equal(answer.status, 200, answer.text.slice(0, 300))
    const { prompt_tokens: tokens } = answer.json.usage
    const expected = nanoBrl(perMillion(tokens, '7.654321'), FX_RATE, MARKUP)
    assert.equal(amountIn(answer.text, 'cost_billed_brl'), expected)
    const outcome = await theOutcome(gateway, answer.requestId)
    assert.ok(outcome.held_nano_brl >= outcome.cost_billed_nano_brl)
  }
})

test('the charge uses the price of the answering route, and the hold covers the most expensive one', async () => {
  const tokens = [1, 2, 3, 4, 5, 6, 7, 8, 9]
  const answer = await embed({ model: 'two-prices', input: tokens })
  assert.equal(answer.status, 200, answer.text)
  const expected = nanoBrl(perMillion(9, '0.7'), FX_RATE, MARKUP)
  assert.equal(amountIn(answer.text, 'cost_billed_brl'), expected)
  const outcome = await theOutcome(gateway, answer.requestId)
  assert.equal(outcome.cost_billed_nano_brl, expected)
  assert.ok(outcome.held_nano_brl >= expected)
})

test('usage that the upstream does not report is counted by the gateway and flagged as an estimate', async () => {
  const answer = await embed({
    model: 'impatient-sandbox-no-usage',
    input: [
      [1, 2, 3],
      [4, 5],
    ],
  })
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.json.usage.prompt_tokens, 5)
  const outcome = await theOutcome(gateway, answer.requestId)
  assert.deepEqual(
    [outcome.outcome, outcome.usage_kind, outcome.reason, outcome.prompt_tokens],
    ['charged', 'estimated', 'no_usage_reported', 5],
  )
  const expected = nanoBrl(perMillion(5, '0.13'), FX_RATE, MARKUP)
  assert.equal(outcome.cost_billed_nano_brl, expected)

  const input = ['Olá, catraca!', 'Até logo.']
  const reported = await embed({ model: 'sandbox-embedding', input })
  const counted = await embed({ model: 'impatient-sandbox-no-usage', input })
  assert.deepEqual(counted.json.usage, reported.json.usage)
})

// ── answers ─────────────────────────────────────────────────────────────────────────────────────

test('vectors have the requested format, base64 or numbers, with all headers', async () => {
  const input = ['um', 'dois', 'três']
  const numbers = await embed(sound({ input }))
  const base64 = await embed(sound({ input, encoding_format: 'base64' }))
  for (const answer of [numbers, base64]) {
    assert.equal(answer.status, 200)
    assertHeaders(answer, answer.requestId)
    assert.deepEqual(Object.keys(answer.json), [
      'object',
      'data',
      'model',
      'usage',
      'cost_billed_brl',
    ])
    assert.equal(answer.json.model, 'sandbox-embedding')
  }
  for (const [index, { embedding }] of base64.json.data.entries()) {
    const bytes = Buffer.from(embedding, 'base64')
    assert.equal(bytes.length, 4 * DIMENSIONS)
    const plain = numbers.json.data[index].embedding as number[]
    assert.deepEqual(
      Array.from({ length: DIMENSIONS }, (_, at) => bytes.readFloatLE(at * 4)),
      plain.map(Math.fround),
    )
  }
})

test('an answer that arrives in odd pieces is complete', async () => {
  const { status, json } = await embed(sound({ model: 'impatient-sandbox-split', dimensions: 8 }))
  assert.deepEqual([status, json?.data[0].embedding.length], [200, 8])
})

test('2,048 texts are accepted at once, and their vectors are in their order', async () => {
  const input = Array.from({ length: 2_048 }, (_, index) => `texto ${index}`)
  const answer = await embed(sound({ input, dimensions: 4 }))
  assert.equal(answer.status, 200, answer.text.slice(0, 300))
  assert.deepEqual(
    answer.json.data.map(({ index }: { index: number }) => index),
    input.map((_, index) => index),
  )
  const alone = await embed(sound({ input: 'texto 2047', dimensions: 4 }))
  assert.deepEqual(answer.json.data[2_047].embedding, alone.json.data[0].embedding)
})

test('null equals a missing field, and unknown fields are ignored', async () => {
  const answer = await embed(
    sound({ dimensions: null, encoding_format: null, user: 'x', cor: { azul: true } }),
  )
  assert.equal(answer.status, 200, answer.text.slice(0, 300))
  assert.equal(answer.json.data[0].embedding.length, DIMENSIONS)
  assert.equal((await embed(sound({ model: 'of-one-length', dimensions: DIMENSIONS }))).status, 200)
})

// ── refusals ────────────────────────────────────────────────────────────────────────────────────

const FAULTY: Record<string, unknown> = {
  'no body': '',
  'no JSON': '{"model":',
  'a list instead of an object': '[]',
  'no UTF-8': Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
  'no model': { input: 'x' },
  'a model that is a number': sound({ model: 7 }),
  'an empty model': sound({ model: '' }),
  'no input': { model: 'sandbox-embedding' },
  'null as input': sound({ input: null }),
  'a number as input': sound({ input: 3 }),
  'an object as input': sound({ input: { text: 'x' } }),
  'an empty text': sound({ input: '' }),
  'an empty list': sound({ input: [] }),
  'an empty text among others': sound({ input: ['x', ''] }),
  'null among texts': sound({ input: ['x', null] }),
  'an object among texts': sound({ input: ['x', {}] }),
  'an empty list among tokens': sound({ input: [[1], []] }),
  'tokens that are broken': sound({ input: [1.5, 2] }),
  'tokens below zero': sound({ input: [-1] }),
  'tokens among texts as plain numbers': sound({ input: ['x', 3] }),
  'too many texts': sound({ input: Array.from<string>({ length: 2_049 }).fill('x') }),
  'no dimensions': sound({ dimensions: 0 }),
  'dimensions that are broken': sound({ dimensions: 1.5 }),
  'dimensions as a text': sound({ dimensions: '8' }),
  'more dimensions than the model has': sound({ dimensions: DIMENSIONS + 1 }),
  'fewer dimensions, of a model of one length': sound({ model: 'of-one-length', dimensions: 8 }),
  'an unknown encoding': sound({ encoding_format: 'hex' }),
  'an encoding that is a number': sound({ encoding_format: 1 }),
  'a model for chats': sound({ model: 'sandbox-chat' }),
  'a model for images': sound({ model: 'sandbox-image' }),
  'a model for sound': sound({ model: 'whisper-1' }),
  'fallbacks that are no list': sound({ models: 'sandbox-embedding' }),
  'too many fallbacks': sound({
    models: Array.from<string>({ length: 6 }).fill('sandbox-embedding'),
  }),
  'a fallback for chats': sound({ models: ['sandbox-chat'] }),
}

test('400 invalid_request: each fault, in Portuguese, and nothing is held', async (t) => {
  const requestIds: string[] = []
  for (const [name, body] of Object.entries(FAULTY)) {
    await t.test(name, async () => {
      const answer = await embed(body)
      requestIds.push(answer.requestId)
      assertRefusal(answer, 400, 'invalid_request')
    })
  }
  await assertUntouched(gateway, requestIds)
})

test('401, 402, 403 and 404 as for chats, and nothing is held', async () => {
  const poor = await seedCustomer(gateway.database.db, { balanceBrl: '0' })
  const narrow = await seedCustomer(gateway.database.db, {
    balanceBrl: '10',
    modelIds: ['sandbox-chat'],
  })
  const answers = [
    await embed(sound(), 'sk-svc-none'),
    await embed(sound(), poor.secret),
    await embed(sound(), narrow.secret),
    await embed(sound({ model: 'gpt-99' })),
    await embed(sound({ models: ['gpt-99'] })),
  ] as const
  assertRefusal(answers[0], 401, 'authentication_failed')
  assertRefusal(answers[1], 402, 'insufficient_balance')
  assertRefusal(answers[2], 403, 'key_model_access_denied')
  assertRefusal(answers[3], 404, 'model_not_found')
  assertRefusal(answers[4], 404, 'model_not_found')
  await assertUntouched(
    gateway,
    answers.map(({ requestId }) => requestId),
  )
})

test('402: the balance decides to the last digit, for the bound of the tokens', async () => {
  const body = { model: 'expensive', input: [Array.from({ length: 900 }, () => 1)] }
  const { held_nano_brl: ceiling } = await theOutcome(gateway, (await embed(body)).requestId)
  const brl = (nano: bigint): string =>
    `${nano / 10n ** 9n}.${String(nano % 10n ** 9n).padStart(9, '0')}`
  const short = await seedCustomer(gateway.database.db, { balanceBrl: brl(ceiling - 1n) })
  assertRefusal(await embed(body, short.secret), 402, 'insufficient_balance')
  const enough = await seedCustomer(gateway.database.db, { balanceBrl: brl(ceiling) })
  assert.equal((await embed(body, enough.secret)).status, 200)
})

test('the hold is proportional to the input: about its tokens, and never less', async () => {
  for (const length of [10, 1_000, 8_000]) {
    const input = Array.from({ length }, () => 5)
    const { held_nano_brl: held } = await theOutcome(
      gateway,
      (await embed({ model: 'expensive', input })).requestId,
    )
    const exact = nanoBrl(perMillion(length, '1000'), FX_RATE, MARKUP)
    const most = nanoBrl(times(perMillion(length + 16, '1000'), rational('1.01')), FX_RATE, MARKUP)
    assert.ok(held >= exact && held <= most, `${length} tokens: ${held}`)
  }
})

// ── failures ────────────────────────────────────────────────────────────────────────────────────

test("each upstream fault is reported in the gateway's words, and its hold is released once", async (t) => {
  await Promise.all(
    UPSTREAM_FAULTS.map(({ model, status, type, reason }) =>
      t.test(model, async () => {
        const answer = await embed(sound({ model: `impatient-${model}` }))
        assertRefusal(answer, status, type)
        const outcome = await theOutcome(gateway, answer.requestId)
        assert.deepEqual(
          [outcome.outcome, outcome.reason, outcome.cost_billed_nano_brl],
          ['released', reason, 0n],
        )
      }),
    ),
  )
})

test('with an upstream that fails now and then, each call is one charge or one release', async () => {
  const statuses: number[] = []
  for (let left = 6; left > 0; left--) {
    const answer = await embed(sound({ model: 'impatient-sandbox-flaky' }))
    statuses.push(answer.status)
    const { outcome } = await theOutcome(gateway, answer.requestId)
    assert.equal(outcome, answer.status === 200 ? 'charged' : 'released')
  }
  assert.deepEqual(new Set(statuses), new Set([200, 502]))
})

test('the fallback that a customer names answers when the first model fails, at its own price', async () => {
  const answer = await embed({
    model: 'impatient-sandbox-error-500',
    models: ['impatient-sandbox-error-503', 'at-7.654321'],
    input: [1, 2, 3],
  })
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.json.model, 'at-7.654321')
  const outcomes = await outcomesOf(gateway, answer.requestId)
  assert.deepEqual(outcomes.map(({ outcome }) => outcome).sort(), [
    'charged',
    'released',
    'released',
  ])
  assert.equal(
    outcomes.find(({ outcome }) => outcome === 'charged')?.cost_billed_nano_brl,
    nanoBrl(perMillion(3, '7.654321'), FX_RATE, MARKUP),
  )
  assert.ok(billedIn(answer.text))
})

test("a client that leaves during the upstream's work is charged once, because the upstream completes it", async () => {
  const requestId = randomUUID()
  const body = JSON.stringify({ model: 'impatient-sandbox-slow', input: [1, 2, 3, 4] })
  const request = httpRequest(`${gateway.node.baseUrl}/embeddings`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${gateway.secret}`, 'x-svc-request-id': requestId },
  })
  request.on('error', () => {})
  request.end(body)
  for (const deadline = Date.now() + 30_000; ; await sleep(10)) {
    const hold = await gateway.database.db
      .selectFrom('holds')
      .select('id')
      .where('request_id', '=', requestId)
      .executeTakeFirst()
    if (hold) break
    assert.ok(Date.now() < deadline, 'nothing was held')
  }
  request.destroy()
  const outcome = await theOutcome(gateway, requestId)
  assert.equal(outcome.outcome, 'charged')
  assert.equal(outcome.cost_billed_nano_brl, nanoBrl(perMillion(4, '0.13'), FX_RATE, MARKUP))
})

test('after all of these calls nothing is held, and the audit is clean', async () => {
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
})
