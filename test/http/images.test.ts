/** Images over real sockets: what they cost by token and by piece, what is refused, what goes wrong. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  startSandboxUpstream,
  type SandboxUpstream,
} from '../../src/sandbox/upstream/start-sandbox-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { ask, type Asked } from '../harness/ask.ts'
import { assertHeaders, assertNoTrace, assertRefusal } from '../harness/assert-answer.ts'
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
  perMillion,
  plus,
  rational,
  theOutcome,
  times,
  UPSTREAM_FAULTS,
  type Rational,
} from '../harness/media-calls.ts'

const FX_RATE = '5.4321'
const MARKUP = '1.2345'
const NONE = rational('0')

let sandbox: SandboxUpstream
let gateway: TestGateway

const BY_PIECE = {
  'medium:512x512': '0.0173',
  '512x512': '0.011111',
  '256x256': '0.002',
  low: '0.0031',
}

before(async () => {
  sandbox = await startSandboxUpstream()
  const common = { category: 'image', context_tokens: 8_192, markup_multiplier: MARKUP }
  const routes = [{ upstream: 'sandbox', model: 'sandbox-image' }]
  const tokens_max = { low: 272, medium: 1_056, high: 4_160 }
  gateway = await startGateway({
    SANDBOX_FX_RATE: FX_RATE,
    ...configured({
      upstreams: [impatientUpstream(sandbox.baseUrl)],
      models: [
        ...impatientModels(
          [...FAULTY_MODELS, 'sandbox-no-usage', 'sandbox-slow', 'sandbox-split'],
          {
            ...common,
            prices: { input: '5', output_image: '40.5' },
            image: { sizes: ['64x64'], tokens_max },
          },
        ),
        {
          ...common,
          id: 'by-token',
          prices: { input: '5.000001', input_image: '10', output_image: '40.123456' },
          image: { tokens_max },
          routes,
        },
        {
          ...common,
          id: 'by-text-token',
          prices: { input: '1.5', output: '12.345678' },
          image: { tokens_max },
          routes,
        },
        {
          ...common,
          id: 'by-piece',
          prices: { input: '5', images: BY_PIECE },
          image: { sizes: ['256x256', '512x512', '64x64'] },
          routes,
        },
        { ...common, id: 'any-piece', prices: { images: { default: '0.0625' } }, routes },
        {
          ...common,
          id: 'piece-of-a-size',
          prices: { images: { '256x256': '0.02' } },
          routes,
        },
        {
          ...common,
          id: 'two-prices',
          prices: { images: { default: '0.01' } },
          routes: [
            { upstream: 'impatient', model: 'sandbox-error-500' },
            {
              upstream: 'sandbox',
              model: 'sandbox-image',
              prices: { images: { default: '0.07' } },
            },
          ],
        },
        {
          ...common,
          id: 'pieces-without-usage',
          prices: { input: 5, images: { default: '0.0333' } },
          routes: [{ upstream: 'impatient', model: 'sandbox-no-usage' }],
        },
        { ...common, id: 'expensive', prices: { images: { default: '100' } }, routes },
      ],
    }),
  })
})

after(async () => {
  await gateway.stop()
  await sandbox.close()
})

const generate = (body: unknown, secret: string | undefined = gateway.secret): Promise<Asked> =>
  ask(gateway.node.baseUrl, '/images/generations', { secret, body })

const sound = (more: object = {}): Record<string, unknown> => ({
  model: 'sandbox-image',
  prompt: 'Uma catraca.',
  size: '64x64',
  ...more,
})

const any = (more: object = {}): Record<string, unknown> => sound({ model: 'any-piece', ...more })

/** The call's charge is this, to the last digit, in the answer and in the ledger, and the hold was enough. */
async function assertCharged(answer: Asked, usd: Rational): Promise<void> {
  assert.equal(answer.status, 200, answer.text.slice(0, 300))
  const expected = nanoBrl(usd, FX_RATE, MARKUP)
  assert.equal(amountIn(answer.text, 'cost_billed_brl'), expected)
  const outcome = await theOutcome(gateway, answer.requestId)
  assert.deepEqual(
    [outcome.outcome, outcome.cost_billed_nano_brl, outcome.usage_kind],
    ['charged', expected, 'exact'],
  )
  assert.ok(outcome.held_nano_brl >= expected, `${outcome.held_nano_brl} < ${expected}`)
}

// ── prices ──────────────────────────────────────────────────────────────────────────────────────

/** Of a picture of 1024 x 1024. */
const TOKENS = { low: 272, medium: 1_056, high: 4_160 }

for (const quality of ['low', 'medium', 'high'] as const) {
  test(`an image is billed by its tokens: quality ${quality}, of several sizes and numbers`, async () => {
    for (const [side, count] of [
      [1_024, 1],
      [512, 2],
      [256, 10],
    ] as const) {
      const answer = await generate({
        model: 'by-token',
        prompt: 'Uma catraca ao pôr do sol, em aquarela.',
        size: `${side}x${side}`,
        n: count,
        quality,
        response_format: 'b64_json',
      })
      assert.equal(answer.status, 200, answer.text.slice(0, 300))
      const { input_tokens, output_tokens } = answer.json.usage
      const tokens = count * Math.max(1, Math.round(TOKENS[quality] * (side / 1_024) ** 2))
      assert.equal(output_tokens, tokens)
      assert.ok(input_tokens > 0)
      await assertCharged(
        answer,
        plus(perMillion(input_tokens, '5.000001'), perMillion(tokens, '40.123456')),
      )
      assert.deepEqual((await theOutcome(gateway, answer.requestId)).units, {
        output_image_tokens: tokens,
      })
    }
  })
}

test('tokens of images without a price of their own are billed as output', async () => {
  const answer = await generate(
    sound({ model: 'by-text-token', size: '512x512', quality: 'medium', n: 3 }),
  )
  const { input_tokens, output_tokens } = answer.json.usage
  assert.equal(output_tokens, 3 * 264)
  await assertCharged(
    answer,
    plus(perMillion(input_tokens, '1.5'), perMillion(output_tokens, '12.345678')),
  )
})

test('if the model chooses the quality, the hold covers the most expensive quality', async () => {
  const answer = await generate({ model: 'by-token', prompt: 'x', size: '1024x1024' })
  // The sandbox takes the best one where it may choose.
  assert.equal(answer.json.usage.output_tokens, 4_160)
  await assertCharged(
    answer,
    plus(perMillion(answer.json.usage.input_tokens, '5.000001'), perMillion(4_160, '40.123456')),
  )
})

/** What is asked, and the price of one image, by hand. */
const PIECES: readonly [Record<string, unknown>, string][] = [
  [{ model: 'by-piece', size: '512x512', quality: 'medium' }, '0.0173'],
  [{ model: 'by-piece', size: '512x512', quality: 'high' }, '0.011111'],
  [{ model: 'by-piece', size: '512x512', quality: 'low' }, '0.011111'],
  [{ model: 'by-piece', size: '256x256', quality: 'medium' }, '0.002'],
  [{ model: 'by-piece', size: '64x64', quality: 'low' }, '0.0031'],
  // The first size of the model is the one that is drawn where none is named.
  [{ model: 'by-piece', quality: 'medium' }, '0.002'],
  [{ model: 'any-piece', size: '64x64', quality: 'high' }, '0.0625'],
  [{ model: 'any-piece', size: '48x96' }, '0.0625'],
]

test('images are billed each: by quality and size, by size, by quality, or at one price', async () => {
  for (const [request, price] of PIECES) {
    for (const count of [1, 7]) {
      const answer = await generate({ prompt: 'Uma catraca.', n: count, ...request })
      assert.equal(answer.status, 200, answer.text.slice(0, 300))
      assert.equal(answer.json.data.length, count)
      const each = times(rational(String(count)), rational(price))
      const prompt =
        request.model === 'by-piece' ? perMillion(answer.json.usage.input_tokens, '5') : NONE
      await assertCharged(answer, plus(each, prompt))
    }
  }
})

test('if the price depends on the size, the gateway sends the size', async () => {
  const answer = await generate({
    model: 'by-piece',
    prompt: 'x',
    size: 'auto',
    quality: 'low',
    response_format: 'b64_json',
  })
  const png = Buffer.from(answer.json.data[0].b64_json, 'base64')
  assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [256, 256])
})

test('images with a price each are billed even if the upstream reports no usage', async () => {
  const answer = await generate(sound({ model: 'pieces-without-usage', n: 2 }))
  assert.equal(answer.status, 200, answer.text.slice(0, 300))
  const outcome = await theOutcome(gateway, answer.requestId)
  assert.deepEqual(outcome.units, { images: 2 })
  const pieces = times(rational('2'), rational('0.0333'))
  // The prompt may be counted by us, or not at all; the pieces are sure.
  assert.ok(outcome.cost_billed_nano_brl >= nanoBrl(pieces, FX_RATE, MARKUP))
  assert.ok(outcome.cost_billed_nano_brl <= outcome.held_nano_brl)
})

test('the charge uses the price of the answering route, and the hold covers the most expensive one', async () => {
  const answer = await generate(sound({ model: 'two-prices', n: 3 }))
  await assertCharged(answer, times(rational('3'), rational('0.07')))
})

test('unreported tokens are estimated from the quality, and marked as an estimate', async () => {
  const answer = await generate(
    sound({ model: 'impatient-sandbox-no-usage', quality: 'medium', n: 2 }),
  )
  assert.equal(answer.status, 200, answer.text.slice(0, 300))
  const outcome = await theOutcome(gateway, answer.requestId)
  assert.deepEqual(
    [outcome.outcome, outcome.usage_kind, outcome.reason],
    ['charged', 'estimated', 'no_usage_reported'],
  )
  assert.deepEqual(outcome.units, { output_image_tokens: 2 * 1_056 })
  assert.equal(
    outcome.cost_billed_nano_brl,
    nanoBrl(
      plus(perMillion(outcome.prompt_tokens, '5'), perMillion(2 * 1_056, '40.5')),
      FX_RATE,
      MARKUP,
    ),
  )
  assert.ok(outcome.held_nano_brl >= outcome.cost_billed_nano_brl)
})

test('a size or quality without a price is refused, and nothing is held', async () => {
  const answers = [
    await generate(sound({ model: 'by-piece', size: '64x64', quality: 'medium' })),
    await generate(sound({ model: 'by-piece', size: '64x64' })),
    // Its price depends on the quality, which would else be the upstream's choice.
    await generate(sound({ model: 'by-piece', size: '512x512' })),
    await generate(sound({ model: 'piece-of-a-size', size: '64x64' })),
    await generate(sound({ model: 'piece-of-a-size', size: '1024x1024' })),
    await generate({ model: 'piece-of-a-size', prompt: 'x' }),
    await generate({ model: 'piece-of-a-size', prompt: 'x', size: 'auto' }),
  ]
  for (const answer of answers) {
    assertRefusal(answer, 400, 'invalid_request')
    assert.match(answer.json.error.message, /não tem preço/)
  }
  await assertUntouched(
    gateway,
    answers.map(({ requestId }) => requestId),
  )
  await assertCharged(
    await generate(sound({ model: 'piece-of-a-size', size: '256x256' })),
    rational('0.02'),
  )
})

// ── what is answered ────────────────────────────────────────────────────────────────────────────

test('an answer has no trace of the upstream, nor do its addresses', async () => {
  for (const response_format of ['url', 'b64_json', undefined]) {
    const answer = await generate(any({ response_format, n: 2 }))
    assert.equal(answer.status, 200)
    assertHeaders(answer, answer.requestId)
    const origin = new URL(gateway.node.baseUrl).origin
    const text = answer.text.replaceAll(origin, '').replaceAll(/"b64_json":"[^"]*"/g, '')
    assertNoTrace({ ...answer, text })
    assert.deepEqual(
      answer.json.data.map((image: object) => Object.keys(image)),
      Array.from({ length: 2 }, () => [response_format === 'b64_json' ? 'b64_json' : 'url']),
    )
  }
})

test("an image's address needs no key, and every other address is a 404", async () => {
  const answer = await generate(any())
  const { url } = answer.json.data[0] as { url: string }
  const fetched = await fetch(url)
  const { headers } = fetched
  assert.equal(fetched.status, 200)
  assert.equal(headers.get('content-type'), 'image/png')
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  const png = Buffer.from(await fetched.arrayBuffer())
  assert.equal(png.readUInt32BE(16), 64)
  const id = url.split('/').at(-1) as string
  for (const wrong of ['x', id.slice(1), `${id}x`, '%00', '%27', 'a'.repeat(150)]) {
    const { status } = await fetch(new URL(`/v1/files/images/${wrong}`, url))
    assert.equal(status, 404, wrong)
  }
})

test("addresses begin with the server's public address if it is set", async () => {
  const host = 'imagens.example.com'
  const { json } = await ask(gateway.node.baseUrl, '/images/generations', {
    secret: gateway.secret,
    body: any(),
    headers: { 'x-forwarded-host': host, 'x-forwarded-proto': 'https' },
  })
  // No proxy is trusted here, so its headers are anybody's words.
  assert.ok(json.data[0].url.startsWith(new URL(gateway.node.baseUrl).origin))
})

test('an answer that arrives in arbitrary parts is complete', async () => {
  const { status, json } = await generate(sound({ model: 'impatient-sandbox-split' }))
  assert.equal(status, 200)
  const fetched = await fetch(json.data[0].url)
  assert.equal(Buffer.from(await fetched.arrayBuffer()).toString('latin1', 1, 4), 'PNG')
})

test('null and "auto" equal omitted fields, and unknown fields are ignored', async () => {
  const nulls = {
    n: null,
    quality: null,
    response_format: null,
    stream: null,
    partial_images: null,
  }
  for (const more of [
    nulls,
    { ...nulls, size: null },
    { size: 'auto', quality: 'auto', stream: false, partial_images: 0 },
    { background: 'opaque', cor: { azul: true } },
  ]) {
    const answer = await generate(any(more))
    assert.equal(answer.status, 200, answer.text.slice(0, 300))
    assert.equal(answer.json.data.length, 1)
  }
})

test('a stream has an event for each image, and its usage and cost once, in the last', async () => {
  const answer = await generate(
    sound({ model: 'by-token', n: 2, quality: 'low', stream: true, partial_images: 2 }),
  )
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  const [first, last, ...more] = [
    ...answer.text.matchAll(/^event: image_generation\.completed\ndata: (.*)\n\n/gm),
  ].map(([, data = '']) => JSON.parse(data))
  assert.deepEqual(more, [])
  for (const event of [first, last]) {
    assert.equal(event.type, 'image_generation.completed')
    assert.equal(Buffer.from(event.b64_json, 'base64').toString('latin1', 1, 4), 'PNG')
    const { size, quality, background, output_format: format } = event
    assert.deepEqual([size, quality, background, format], ['64x64', 'low', 'auto', 'png'])
  }
  assert.equal(first.usage.total_tokens, 0)
  assert.equal(first.cost_billed_brl, undefined)
  const { input_tokens: input, output_tokens: output, total_tokens: total } = last.usage
  assert.equal(total, input + output)
  await assertCharged(answer, plus(perMillion(input, '5.000001'), perMillion(output, '40.123456')))
})

test('an image billed by the piece streams, and a call that fails refuses without a stream', async () => {
  await assertCharged(
    await generate(any({ stream: true, response_format: 'url' })),
    rational('0.0625'),
  )
  const answer = await generate(sound({ model: 'impatient-sandbox-error-500', stream: true }))
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
  assert.ok(answer.status >= 500, answer.text)
})

// ── what is refused ─────────────────────────────────────────────────────────────────────────────

const FAULTY: Record<string, unknown> = {
  'no body': '',
  'no JSON': '{"model":',
  'a list instead of an object': '[]',
  'no model': { prompt: 'x' },
  'a model that is a number': any({ model: 7 }),
  'an empty model': any({ model: '' }),
  'no prompt': { model: 'any-piece' },
  'an empty prompt': any({ prompt: '' }),
  'null as a prompt': any({ prompt: null }),
  'a list as a prompt': any({ prompt: ['x'] }),
  'no images': any({ n: 0 }),
  'fewer than no images': any({ n: -1 }),
  'too many images': any({ n: 11 }),
  'half an image': any({ n: 1.5 }),
  'a number of images as a text': any({ n: '2' }),
  'a size in words': any({ size: 'grande' }),
  'a size of one side': any({ size: '1024' }),
  'a size of no width': any({ size: '0x64' }),
  'a size beyond reason': any({ size: '1000000x1000000' }),
  'a size that is a number': any({ size: 1_024 }),
  'a size that the model does not have': sound({ size: '300x300' }),
  'an unknown quality': any({ quality: 'ultra' }),
  'a quality that is a number': any({ quality: 1 }),
  'an unknown response_format': any({ response_format: 'jpeg' }),
  'an unknown background': any({ background: { cor: 'azul' } }),
  'a stream in words': any({ stream: 'sim' }),
  'too many partial images': any({ stream: true, partial_images: 4 }),
  'partial images as a text': any({ partial_images: '2' }),
  'a model for chats': any({ model: 'sandbox-chat' }),
  'a model for embeddings': any({ model: 'sandbox-embedding' }),
  'a model for sound': any({ model: 'whisper-1' }),
  'fallbacks that are no list': any({ models: 'sandbox-image' }),
  'a fallback without a price for the size': any({ models: ['piece-of-a-size'] }),
}

test('400 invalid_request: each fault, in Portuguese, and nothing is held', async (t) => {
  const requestIds: string[] = []
  for (const [name, body] of Object.entries(FAULTY)) {
    await t.test(name, async () => {
      const answer = await generate(body)
      requestIds.push(answer.requestId)
      assertRefusal(answer, 400, 'invalid_request')
    })
  }
  await assertUntouched(gateway, requestIds)
})

test('401, 402, 403 and 404 are those of chats, and nothing is held', async () => {
  const poor = await seedCustomer(gateway.database.db, { balanceBrl: '0' })
  const narrow = await seedCustomer(gateway.database.db, {
    balanceBrl: '10',
    modelIds: ['sandbox-chat'],
  })
  const body = any()
  const answers = [
    await generate(body, 'sk-svc-none'),
    await generate(body, poor.secret),
    await generate(body, narrow.secret),
    await generate(any({ model: 'gpt-99' })),
  ] as const
  assertRefusal(answers[0], 401, 'authentication_failed')
  assertRefusal(answers[1], 402, 'insufficient_balance')
  assertRefusal(answers[2], 403, 'key_model_access_denied')
  assertRefusal(answers[3], 404, 'model_not_found')
  await assertUntouched(
    gateway,
    answers.map(({ requestId }) => requestId),
  )
})

test('402: the balance is compared exactly, for all images of a request together', async () => {
  const body = sound({ model: 'expensive', n: 3 })
  const needed = nanoBrl(rational('300'), FX_RATE, MARKUP)
  const [short, enough] = await Promise.all(
    [needed - 1n, needed].map((nano) => {
      const digits = nano.toString().padStart(10, '0')
      const balanceBrl = `${digits.slice(0, -9)}.${digits.slice(-9)}`
      return seedCustomer(gateway.database.db, { balanceBrl })
    }),
  )
  assertRefusal(await generate(body, short?.secret), 402, 'insufficient_balance')
  const answer = await generate(body, enough?.secret)
  await assertCharged(answer, rational('300'))
  assert.equal((await theOutcome(gateway, answer.requestId)).held_nano_brl, needed)
})

// ── what goes wrong ─────────────────────────────────────────────────────────────────────────────

test('each upstream fault becomes our own error, and its hold is released once', async (t) => {
  await Promise.all(
    UPSTREAM_FAULTS.map(({ model, status, type, reason }) =>
      t.test(model, async () => {
        const answer = await generate(sound({ model: `impatient-${model}` }))
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

test('after a client disconnects while the upstream works, the call is charged once', async () => {
  const leaving = new AbortController()
  const requestId = 'aaaaaaaa-0000-4000-8000-000000000001'
  const left = fetch(`${gateway.node.baseUrl}/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.secret}`, 'x-svc-request-id': requestId },
    body: JSON.stringify(sound({ model: 'impatient-sandbox-slow', quality: 'low' })),
    signal: leaving.signal,
  })
  const started = sandbox.counts.requests
  for (const deadline = Date.now() + 30_000; sandbox.counts.requests === started;) {
    assert.ok(Date.now() < deadline, 'the upstream was not asked')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  leaving.abort()
  await assert.rejects(left)
  const outcome = await theOutcome(gateway, requestId)
  assert.deepEqual([outcome.outcome, outcome.usage_kind], ['charged', 'exact'])
  assert.ok(outcome.cost_billed_nano_brl > 0n)
})

test('after these tests nothing is held, and the audit passes', async () => {
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
})
