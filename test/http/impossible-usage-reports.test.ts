// deep: an attack
/** An upstream that reports more than any call can use must not put its customers into debt. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { ask, askChat, sound, type Asked } from '../harness/ask.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import fc from '../harness/fast-check.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { askForm, form, FORM_TYPE, theOutcome, wav } from '../harness/media-calls.ts'
import {
  eventOf,
  startScriptedUpstream,
  type Behaviour,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'

/** Of prompt and output together. */
const CONTEXT_TOKENS = 5_000
const SECONDS_MAX = 60
const IMAGE_TOKENS_MAX = 100
/** Of a file of one second: its header counts as sound. */
const FILE_SECONDS_MAX = 2
const CASES_PER_KIND = 12

let upstream: ScriptedUpstream
let configFile: ConfigFile
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  const model = (id: string, category: string, more: object): unknown => ({
    id,
    category,
    context_tokens: CONTEXT_TOKENS,
    routes: [{ upstream: 'up', model: id }],
    ...more,
  })
  configFile = await writeConfigFile({
    upstreams: [{ id: 'up', kind: 'openai-compatible', base_url: upstream.baseUrl }],
    models: [
      model('chat', 'llm', { prices: { input: '1', output: '2' }, max_output_tokens: 1_000 }),
      model('vectors', 'embedding', { prices: { input: '1' }, embedding: { dimensions: 2 } }),
      model('pictures', 'image', {
        prices: { input: '1', output_image: '2' },
        image: { tokens_max: { low: IMAGE_TOKENS_MAX } },
      }),
      model('speech', 'audio', {
        prices: { audio_hour: '1' },
        audio: { seconds_max: SECONDS_MAX },
      }),
      model('speech-by-token', 'audio', {
        prices: { input_audio: '1', output: '2' },
        audio: { seconds_max: SECONDS_MAX, tokens_per_second_max: 20 },
        max_output_tokens: 100,
      }),
    ] as never,
  })
  gateway = await startGateway({ CATRACA_CONFIG: configFile.path })
})
after(async () => {
  await gateway?.stop()
  await upstream?.close()
  await configFile?.remove()
})

interface Kind {
  readonly model: string
  ask(secret: string): Promise<Asked>
  /** Answers with usage whose largest count is this. */
  answer(count: number): Behaviour
  /** The largest count that a call can have. */
  readonly countMax: number
}

const json =
  (body: unknown): Behaviour =>
  (_call, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))

function askSpeech(model: string, file = wav(1)): Kind['ask'] {
  return (secret) =>
    askForm(gateway.node.baseUrl, secret, [
      ['model', model],
      ['file', file, 'a.wav'],
    ])
}

const choice = { index: 0, message: { role: 'assistant', content: 'oi' }, finish_reason: 'stop' }

const KINDS: Record<string, Kind> = {
  'a plain chat, in its output': {
    model: 'chat',
    ask: (secret) => askChat(gateway.node.baseUrl, secret, sound('chat', { max_tokens: 10 })),
    answer: (count) =>
      json({ choices: [choice], usage: { prompt_tokens: 3, completion_tokens: count } }),
    countMax: CONTEXT_TOKENS,
  },
  'a plain chat, in its prompt': {
    model: 'chat',
    ask: (secret) => askChat(gateway.node.baseUrl, secret, sound('chat', { max_tokens: 10 })),
    answer: (count) =>
      json({ choices: [choice], usage: { prompt_tokens: count, completion_tokens: 1 } }),
    countMax: CONTEXT_TOKENS,
  },
  'a stream': {
    model: 'chat',
    ask: (secret) =>
      askChat(gateway.node.baseUrl, secret, sound('chat', { max_tokens: 10, stream: true })),
    answer: (count) => (_call, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(eventOf({ choices: [{ index: 0, delta: { content: 'oi' } }] }))
      response.write(eventOf({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }))
      const usage = { prompt_tokens: 3, completion_tokens: count }
      response.end(`${eventOf({ choices: [], usage })}data: [DONE]\n\n`)
    },
    countMax: CONTEXT_TOKENS,
  },
  embeddings: {
    model: 'vectors',
    ask: (secret) =>
      ask(gateway.node.baseUrl, '/embeddings', { secret, body: { model: 'vectors', input: 'oi' } }),
    answer: (count) =>
      json({ data: [{ index: 0, embedding: [1, 0] }], usage: { prompt_tokens: count } }),
    // The bytes of the text, and what a model adds to it.
    countMax: 2 + 8,
  },
  images: {
    model: 'pictures',
    ask: (secret) =>
      ask(gateway.node.baseUrl, '/images/generations', {
        secret,
        body: { model: 'pictures', prompt: 'oi' },
      }),
    answer: (count) =>
      json({
        data: [{ b64_json: Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1').toString('base64') }],
        usage: {
          input_tokens: 3,
          output_tokens: count,
          input_tokens_details: { text_tokens: 3, image_tokens: 0 },
        },
      }),
    countMax: IMAGE_TOKENS_MAX,
  },
  'transcriptions, in the billed seconds': {
    model: 'speech',
    ask: askSpeech('speech'),
    answer: (count) => json({ text: 'oi', usage: { type: 'duration', seconds: count } }),
    countMax: FILE_SECONDS_MAX,
  },
  'transcriptions, in the length': {
    model: 'speech',
    ask: askSpeech('speech'),
    answer: (count) => json({ text: 'oi', duration: count }),
    countMax: FILE_SECONDS_MAX,
  },
  'transcriptions, in both': {
    model: 'speech',
    ask: askSpeech('speech'),
    answer: (count) => json({ text: 'oi', duration: count, usage: { seconds: count } }),
    countMax: FILE_SECONDS_MAX,
  },
  'transcriptions of an unmeasured file, in the length': {
    model: 'speech',
    ask: askSpeech('speech', Buffer.alloc(4_000, 'OggS')),
    answer: (count) => json({ text: 'oi', duration: count }),
    countMax: SECONDS_MAX,
  },
  'a translation': {
    model: 'speech',
    ask: (secret) =>
      ask(gateway.node.baseUrl, '/audio/translations', {
        secret,
        body: form([
          ['model', 'speech'],
          ['language', 'pt'],
          ['file', wav(1), 'a.wav'],
        ]),
        headers: { 'content-type': FORM_TYPE },
      }),
    answer: (count) => (call, response) => {
      assert.equal(call.path, '/v1/audio/translations')
      assert.ok(!call.text.includes('name="language"'))
      return json({ text: 'oi', usage: { type: 'duration', seconds: count } })(call, response)
    },
    countMax: FILE_SECONDS_MAX,
  },
  'transcriptions billed by the token': {
    model: 'speech-by-token',
    ask: askSpeech('speech-by-token'),
    answer: (count) => json({ text: 'oi', usage: { input_tokens: count, output_tokens: 1 } }),
    countMax: FILE_SECONDS_MAX * 20,
  },
}

for (const [name, kind] of Object.entries(KINDS))
  test(`an impossible report of ${name} is charged by an estimate, within the hold`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.integer({ min: 1, max: 4 * kind.countMax }),
          fc.constantFrom(kind.countMax, kind.countMax + 1, 999_999_999, 2 ** 31, 2 ** 53 - 1),
        ),
        async (count) => {
          const { secret, customerId } = await seedCustomer(gateway.database.db, {
            balanceBrl: '1',
          })
          upstream.play(kind.model, kind.answer(count))
          const answer = await kind.ask(secret)
          assert.equal(answer.status, 200, answer.text)
          const outcome = await theOutcome(gateway, answer.requestId)
          assert.equal(outcome.outcome, 'charged')
          if (count <= kind.countMax) {
            assert.deepEqual([outcome.usage_kind, outcome.reason], ['exact', null])
            return
          }
          assert.equal(outcome.usage_kind, 'estimated')
          // Of the largest counts, the adapters read none at all.
          if (count < 4 * kind.countMax) assert.equal(outcome.reason, 'impossible_usage_reported')
          assert.ok(outcome.cost_billed_nano_brl > 0n)
          assert.ok(outcome.cost_billed_nano_brl <= outcome.held_nano_brl)
          const account = await findAccount(gateway.database.db, customerId)
          assert.ok(account && account.balanceNanoBrl >= 0n)
          assert.ok(
            gateway.node.log.some(
              (line) => line.includes('impossible_usage_reported') && line.includes('holdId'),
            ),
          )
        },
      ),
      { numRuns: CASES_PER_KIND },
    )
  })

test('the operator is told of an impossible report', async () => {
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '1' })
  const kind = KINDS['a plain chat, in its output'] as Kind
  upstream.play(kind.model, kind.answer(CONTEXT_TOKENS + 1))
  const { requestId } = await kind.ask(secret)
  await theOutcome(gateway, requestId)
  assert.ok(gateway.node.log.some((line) => line.includes('impossible_usage_reported')))
})

test('after all of this the audit is clean', () => assertAudit(gateway.database))
