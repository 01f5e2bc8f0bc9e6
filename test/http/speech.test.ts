// deep: generated requests and reports
/** Speech over real sockets: its sound, units and costs, with an upstream that reports what it likes. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import OpenAI from 'openai'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { assertRefusal } from '../harness/assert-answer.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { ask, type Asked } from '../harness/ask.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import fc from '../harness/fast-check.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { assertUntouched, nanoBrl, perMillion, theOutcome } from '../harness/media-calls.ts'
import { startScriptedUpstream, type ScriptedUpstream } from '../harness/scripted-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'

const FX_RATE = '5'
const MARKUP = '1.25'

let upstream: ScriptedUpstream
let configFile: ConfigFile
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  const model = (id: string, prices: object, more: object = { speech: true }): unknown => ({
    id,
    category: 'audio',
    markup_multiplier: MARKUP,
    max_output_tokens: 60_000,
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
      model('by-character', { characters: '15' }),
      model('by-token', { input: '0.6', output_audio: '12' }),
      model('hears', { audio_hour: '1' }, {}),
    ] as never,
  })
  gateway = await startGateway({ CATRACA_CONFIG: configFile.path, SANDBOX_FX_RATE: FX_RATE })
})
after(async () => {
  await gateway?.stop()
  await upstream?.close()
  await configFile?.remove()
})

const speak = (body: object, secret: string = gateway.secret): Promise<Asked> =>
  ask(gateway.node.baseUrl, '/audio/speech', { secret, body })

const sound = (more: object = {}): object => ({
  model: 'by-character',
  input: 'Olá, catraca! 🚇',
  voice: 'alloy',
  ...more,
})

/** Plays a sound of these bytes: as events if they are asked for, else as it is. */
function play(model: string, audio: Buffer, usage?: object): void {
  upstream.play(model, ({ body }, response) => {
    if (body.stream_format !== 'sse')
      return void response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(audio)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const half = Math.ceil(audio.length / 6) * 3
    for (const part of [audio.subarray(0, half), audio.subarray(half)]) {
      const event = { type: 'speech.audio.delta', audio: part.toString('base64') }
      response.write(`data: ${JSON.stringify(event)}\n\n`)
    }
    response.end(`data: ${JSON.stringify({ type: 'speech.audio.done', usage })}\n\n`)
  })
}

test('a text is spoken, as sound and as events, and costs its characters or its tokens', async () => {
  const audio = Buffer.from(Array.from({ length: 1_000 }, (_, at) => (at * 7) % 256))
  const usage = { input_tokens: 9, output_tokens: 30, total_tokens: 39 }
  const costs = {
    'by-character': nanoBrl(perMillion(15, '15'), FX_RATE, MARKUP),
    'by-token': nanoBrl({ n: 9n * 6n + 30n * 120n, d: 10_000_000n }, FX_RATE, MARKUP),
  }
  for (const model of ['by-character', 'by-token'] as const) {
    play(model, audio, usage)
    const client = new OpenAI({
      baseURL: gateway.node.baseUrl,
      apiKey: gateway.secret,
      maxRetries: 0,
    })
    const spoken = await client.audio.speech.create({
      model,
      input: 'Olá, catraca! 🚇',
      voice: 'alloy',
      speed: 0.5,
    })
    assert.deepEqual(Buffer.from(await spoken.arrayBuffer()), audio)
    assert.equal(spoken.headers.get('content-type'), 'audio/mpeg')
    assert.ok(Number(spoken.headers.get('x-svc-cost-billed-brl')) > 0)
    const { body } = upstream.callsOf(model).at(-1) as { body: Record<string, unknown> }
    assert.deepEqual([body.voice, body.speed, body.user], ['alloy', 0.5, undefined])

    const events = await speak(sound({ model, stream_format: 'sse' }))
    assert.equal(events.status, 200, events.text)
    const [delta, done] = [...events.text.matchAll(/^data: (.*)$/gm)].map(
      ([, data]) => JSON.parse(data as string) as Record<string, unknown>,
    )
    assert.deepEqual(Buffer.from(String(delta?.audio), 'base64'), audio)
    assert.equal(done?.type, 'speech.audio.done')
    if (model === 'by-token') assert.deepEqual(done?.usage, usage)
    const outcome = await theOutcome(gateway, events.requestId)
    assert.deepEqual([outcome.usage_kind, outcome.cost_billed_nano_brl], ['exact', costs[model]])
  }
})

test('the sandbox speaks for as long as the text is', async () => {
  for (const model of ['sandbox-speech', 'sandbox-speech-tokens', 'gpt-4o-mini-tts']) {
    const body = JSON.stringify({ model, input: 'x'.repeat(150), voice: 'alloy' })
    const answer = await fetch(`${gateway.node.baseUrl}/audio/speech`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.secret}`,
        'content-type': 'application/json',
      },
      body,
    })
    assert.equal(answer.status, 200)
    const { length } = Buffer.from(await answer.arrayBuffer())
    assert.equal(length, 44 + 10 * 48_000, model)
  }
})

test('whatever the upstream reports of a speech, it costs at most its hold, at least something, and the balance stays', async () => {
  const counts = fc.constantFrom(undefined, null, 'x', -1, 0, 0.5, 1, 20, 5_000, 2 ** 31, 2 ** 53)
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('by-character', 'by-token'),
      fc.string({ minLength: 1, maxLength: 2_000, unit: 'grapheme' }),
      fc.constantFrom('mp3', 'pcm'),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 500_000 }),
      counts,
      counts,
      async (model, text, format, quarters, bytes, input, output) => {
        const { db } = gateway.database
        const { secret, customerId } = await seedCustomer(db, { balanceBrl: '20' })
        play(model, Buffer.alloc(bytes, 1), { input_tokens: input, output_tokens: output })
        const answer = await speak(
          {
            model,
            input: text.slice(0, 2_000),
            voice: 'a',
            response_format: format,
            speed: quarters / 4,
          },
          secret,
        )
        assert.equal(answer.status, 200, answer.text)
        const outcome = await theOutcome(gateway, answer.requestId)
        const billed = outcome.cost_billed_nano_brl
        assert.ok(billed > 0n && billed <= outcome.held_nano_brl, `${billed}`)
        if (model === 'by-token' && outcome.usage_kind === 'exact') {
          assert.deepEqual(
            [outcome.prompt_tokens, outcome.units],
            [input, { output_audio_tokens: output }],
          )
          assert.ok(Number(input) > 0 && Number(output) > 0)
        }
        const account = await findAccount(db, customerId)
        assert.ok(account && account.balanceNanoBrl >= 0n)
      },
    ),
    { numRuns: 30 },
  )
})

test('400 invalid_request: each faulty field of a speech, in Portuguese, and nothing is held', async () => {
  const refused = await Promise.all(
    [
      { input: undefined },
      { input: '' },
      { input: 'x'.repeat(4_097) },
      { voice: undefined },
      { voice: { id: 'x' } },
      { response_format: 'ogg' },
      { stream_format: 'json' },
      { speed: 0.1 },
      { speed: '1' },
      { instructions: 1 },
      { model: 'hears' },
      { model: 'sandbox-chat' },
    ].map((fault) => speak(sound(fault))),
  )
  for (const answer of refused) assertRefusal(answer, 400, 'invalid_request')
  await assertUntouched(
    gateway,
    refused.map(({ requestId }) => requestId),
  )
})

test('an answer without a sound, or with half of one, costs nothing', async () => {
  const delta = `data: ${JSON.stringify({ type: 'speech.audio.delta', audio: 'AAAA' })}\n\n`
  const error = `data: ${JSON.stringify({ type: 'error', error: { message: 'no' } })}\n\n`
  for (const [type, body] of [
    ['audio/mpeg', ''],
    ['application/json', '{"error":{"message":"no"}}'],
    ['application/json', '{}'],
    ['text/event-stream', delta],
    ['text/event-stream', delta + error],
    ['text/event-stream', 'data: {"type":"speech.audio.done"}\n\n'],
  ] as const) {
    upstream.play(
      'by-token',
      (_call, response) => void response.writeHead(200, { 'content-type': type }).end(body),
    )
    const answer = await speak(sound({ model: 'by-token' }))
    assertRefusal(answer, 502, 'upstream_error')
    assert.equal((await theOutcome(gateway, answer.requestId)).outcome, 'released', body)
  }
})

test('the shield masks what is to be spoken before it leaves', async () => {
  const { db } = gateway.database
  const { secret, customerId } = await seedCustomer(db, { balanceBrl: '5' })
  await db
    .updateTable('customers')
    .set({ shield_action: 'mask' })
    .where('id', '=', customerId)
    .execute()
  play('by-character', Buffer.from('sound'))
  const answer = await speak(
    sound({ input: 'O CPF é 529.982.247-25', instructions: 'Soletre 529.982.247-25' }),
    secret,
  )
  assert.equal(answer.status, 200, answer.text)
  assert.doesNotMatch(String(upstream.callsOf('by-character').at(-1)?.text), /529/)
})

test('after all speeches the audit is clean', () => assertAudit(gateway.database))
