/** Edits of images over real sockets: what leaves, what they cost, and what is refused. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ask, type Asked } from '../harness/ask.ts'
import { assertRefusal } from '../harness/assert-answer.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import fc from '../harness/fast-check.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  assertUntouched,
  configured,
  form,
  FORM_TYPE,
  nanoBrl,
  perMillion,
  plus,
  theOutcome,
  type Part,
} from '../harness/media-calls.ts'
import {
  startScriptedUpstream,
  type Behaviour,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'

const FX_RATE = '5.4321'
const MARKUP = '1.2345'
const INPUT_TOKENS_MAX = 1_000

let upstream: ScriptedUpstream
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  const model = (id: string, more: object): object => ({
    id,
    category: 'image',
    context_tokens: 8_192,
    markup_multiplier: MARKUP,
    image_tokens_max: INPUT_TOKENS_MAX,
    image: { tokens_max: { high: 4_160 } },
    routes: [{ upstream: 'up', model: id }],
    ...more,
  })
  const apart = { input: '20', input_image: '10', output_image: '40' }
  gateway = await startGateway({
    SANDBOX_FX_RATE: FX_RATE,
    ...configured({
      upstreams: [{ id: 'up', kind: 'openai-compatible', base_url: upstream.baseUrl }],
      models: [
        model('apart', { prices: apart }),
        model('together', { prices: { input: '5', output_image: '40' } }),
        model('by-piece', { prices: { images: { default: '0.02' } } }),
        model('only-makes', { prices: apart, image_tokens_max: 0 }),
      ],
    }),
  })
})

after(async () => {
  await gateway.stop()
  await upstream.close()
})

const PNG = Buffer.from('89504e470d0a1a0a0000', 'hex')
const JPEG = Buffer.from('ffd8ffe000104a464946', 'hex')
const EMAIL = 'maria@example.com'

const edit = (parts: readonly Part[]): Promise<Asked> =>
  ask(gateway.node.baseUrl, '/images/edits', {
    secret: gateway.secret,
    body: form(parts),
    headers: { 'content-type': FORM_TYPE },
  })

const sound = (model: string, ...more: readonly Part[]): readonly Part[] => [
  ['model', model],
  ['prompt', 'Uma catraca.'],
  ['image', PNG, `${EMAIL}.png`],
  ...more,
]

interface Counts {
  readonly text?: number
  readonly images?: number | undefined
  readonly output: number
}

/** Without `images`, the tokens of the input are not told apart. */
const answering =
  ({ text = 0, images, output }: Counts, pieces = 1): Behaviour =>
  (_call, response) => {
    const details = { input_tokens_details: { text_tokens: text, image_tokens: images } }
    const data = Array.from({ length: pieces }, () => ({ b64_json: PNG.toString('base64') }))
    const usage = {
      input_tokens: text + (images ?? 0),
      output_tokens: output,
      ...(images === undefined ? {} : details),
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ data, usage }))
  }

test('an edit sends its images, mask and texts as a form, and no name of a file', async () => {
  upstream.play('apart', answering({ text: 9, images: 500, output: 100 }, 2))
  const answer = await edit([
    ['model', 'apart'],
    ['prompt', 'Uma catraca\nazul.'],
    ['n', '2'],
    ['size', '1024x1024'],
    ['quality', 'high'],
    ['user', EMAIL],
    ['num_images', '10'],
    ['stream', 'false'],
    ['image[]', PNG, `${EMAIL}.png`],
    ['image[]', JPEG, 'a.png'],
    ['mask', PNG, `${EMAIL}.exe`],
  ])
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.json.data.length, 2)
  const sent = upstream.callsOf('apart').at(-1) ?? assert.fail('nothing was sent')
  assert.equal(sent.path, '/v1/images/edits')
  assert.ok(!sent.text.includes(EMAIL) && !sent.text.includes('num_images'), sent.text)
  const files = [
    ...sent.text.matchAll(/name="([^"]+)"; filename="([^"]+)"\r\ncontent-type: (.*)\r/gi),
  ]
  assert.deepEqual(
    files.map(([, field, name, type]) => [field, name, type]),
    [
      ['image[]', 'image.png', 'image/png'],
      ['image[]', 'image.jpeg', 'image/jpeg'],
      ['mask', 'image.png', 'image/png'],
    ],
  )
  for (const [name, value] of Object.entries({
    prompt: 'Uma catraca\r\nazul.',
    n: '2',
    size: '1024x1024',
    quality: 'high',
    response_format: 'b64_json',
  }))
    assert.ok(sent.text.includes(`name="${name}"\r\n\r\n${value}\r\n`), `${name}: ${sent.text}`)
})

test('the events of an edit are its own, and no upstream is asked for a stream', async () => {
  upstream.play('apart', answering({ text: 9, images: 500, output: 100 }, 2))
  upstream.play('together', answering({ text: 9, images: 500, output: 100 }, 2))
  for (const model of ['apart', 'together']) {
    const answer = await edit(sound(model, ['n', '2'], ['stream', 'true'], ['partial_images', '1']))
    assert.equal(answer.status, 200, answer.text)
    const types = [...answer.text.matchAll(/^event: (.*)$/gm)].map(([, type]) => type)
    assert.deepEqual(types, ['image_edit.completed', 'image_edit.completed'])
    assert.match(answer.text, /"input_tokens_details":\{"image_tokens":500,"text_tokens":9\}/)
  }
  const { text = '' } = upstream.callsOf('apart').at(-1) ?? {}
  assert.doesNotMatch(text, /stream|partial_images/)
})

test('an edit costs its texts, its images and what it makes, to the last digit', async () => {
  const cases = [
    ['apart', plus(perMillion(9, '20'), perMillion(500, '10'), perMillion(100, '40'))],
    ['together', plus(perMillion(509, '5'), perMillion(100, '40'))],
    ['by-piece', perMillion(20_000, '1')],
  ] as const
  for (const [model, usd] of cases) {
    upstream.play(model, answering({ text: 9, images: 500, output: 100 }))
    const answer = await edit(sound(model))
    assert.equal(answer.status, 200, answer.text)
    const outcome = await theOutcome(gateway, answer.requestId)
    assert.deepEqual(
      [outcome.outcome, outcome.usage_kind, outcome.cost_billed_nano_brl],
      ['charged', 'exact', nanoBrl(usd, FX_RATE, MARKUP)],
      model,
    )
  }
})

test('whatever the upstream reports of an edit, it costs at most its hold, and something', async () => {
  const count = fc.oneof(fc.nat({ max: 3 * INPUT_TOKENS_MAX }), fc.constantFrom(0, 2 ** 40))
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('apart', 'together', 'by-piece'),
      fc.record({ text: count, images: fc.option(count, { nil: undefined }), output: count }),
      fc.integer({ min: 1, max: 3 }),
      async (model, reported, pieces) => {
        upstream.play(model, answering(reported, pieces))
        const more: Part[] = [
          ['n', String(pieces)],
          ['image', PNG, 'b.png'],
        ]
        const answer = await edit(sound(model, ...more))
        assert.equal(answer.status, 200, answer.text)
        const { outcome, held_nano_brl, cost_billed_nano_brl } = await theOutcome(
          gateway,
          answer.requestId,
        )
        assert.equal(outcome, 'charged')
        assert.ok(cost_billed_nano_brl > 0n)
        assert.ok(
          cost_billed_nano_brl <= held_nano_brl,
          `${cost_billed_nano_brl} > ${held_nano_brl}`,
        )
      },
    ),
    { numRuns: 60 },
  )
})

test('a form names fallback models by repeating the field', async () => {
  upstream.play('by-piece', answering({ output: 1 }))
  const answer = await edit([
    ['models', 'by-piece'],
    ['models', 'apart'],
    ['prompt', 'x'],
    ['image', PNG, 'a.png'],
  ])
  assert.equal(answer.status, 200, answer.text)
})

const FAULTY: Record<string, readonly Part[]> = {
  'no image': [
    ['model', 'apart'],
    ['prompt', 'x'],
  ],
  'no prompt': [
    ['model', 'apart'],
    ['image', PNG, 'a.png'],
  ],
  'no model': [
    ['prompt', 'x'],
    ['image', PNG, 'a.png'],
  ],
  'a file that is no image': [
    ['model', 'apart'],
    ['prompt', 'x'],
    ['image', Buffer.from('%PDF-1.7'), 'a.png'],
  ],
  'a mask that is no image': sound('apart', ['mask', Buffer.from('<svg>'), 'a.png']),
  'two masks': sound('apart', ['mask', PNG, 'a.png'], ['mask', PNG, 'b.png']),
  'a file of another name': sound('apart', ['audio', PNG, 'a.png']),
  'too many images': sound(
    'apart',
    ...Array.from({ length: 16 }, (): Part => ['image[]', PNG, 'a.png']),
  ),
  'too many results': sound('apart', ['n', '11']),
  'a number that is none': sound('apart', ['n', 'dois']),
  'a stream in words': sound('apart', ['stream', 'sim']),
  'too many partial images': sound('apart', ['stream', 'true'], ['partial_images', '4']),
  'a model that edits no images': sound('only-makes'),
  'a model for chats': sound('sandbox-chat'),
}

test('400 invalid_request: each faulty form of an edit, in Portuguese, and nothing is held', async (t) => {
  const requestIds: string[] = []
  for (const [name, parts] of Object.entries(FAULTY))
    await t.test(name, async () => {
      const answer = await edit(parts)
      requestIds.push(answer.requestId)
      assertRefusal(answer, 400, 'invalid_request')
    })
  const json = { model: 'apart', prompt: 'x', image: 'data:image/png;base64,AAAA' }
  const answer = await ask(gateway.node.baseUrl, '/images/edits', {
    secret: gateway.secret,
    body: json,
  })
  assertRefusal(answer, 400, 'invalid_request')
  await assertUntouched(gateway, [...requestIds, answer.requestId])
})

test('after all of these edits the audit is clean', () => assertAudit(gateway.database))
