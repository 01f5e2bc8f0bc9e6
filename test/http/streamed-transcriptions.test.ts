/** Transcripts that an upstream speaks as it hears them: what the client gets and when, and what it costs. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { eventsOf, type Asked, ask } from '../harness/ask.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  amountIn,
  askForm,
  form,
  FORM_TYPE,
  nanoBrl,
  perHour,
  perMillion,
  plus,
  theOutcome,
  TRANSCRIPTIONS,
  wav,
  type Part,
} from '../harness/media-calls.ts'
import {
  cut,
  eventOf,
  startScriptedUpstream,
  type Behaviour,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'

const FX_RATE = '5.4321'
const MARKUP = '1.2345'
const SECONDS = 3

let upstream: ScriptedUpstream
let configFile: ConfigFile
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  const model = (id: string, more: object): unknown => ({
    id,
    category: 'audio',
    markup_multiplier: MARKUP,
    routes: [{ upstream: 'up', model: id }],
    ...more,
  })
  const byToken = {
    prices: { input: '2.5', input_audio: '6', output: '10' },
    max_output_tokens: 100,
    audio: { tokens_per_second_max: 20, has_timestamps: false },
  }
  configFile = await writeConfigFile({
    upstreams: [
      { id: 'up', kind: 'openai-compatible', base_url: upstream.baseUrl, retries: 0 },
      { id: 'other', kind: 'openai-compatible', base_url: upstream.baseUrl, retries: 0 },
    ],
    models: [
      model('by-token', byToken),
      model('by-second', { prices: { audio_hour: '0.36' } }),
      model('a-whisper', { prices: { audio_hour: '0.36' } }),
      model('two-routes', {
        ...byToken,
        routes: [
          { upstream: 'up', model: 'first' },
          { upstream: 'other', model: 'second' },
        ],
      }),
    ] as never,
  })
  gateway = await startGateway({ CATRACA_CONFIG: configFile.path, SANDBOX_FX_RATE: FX_RATE })
})
after(async () => {
  await gateway?.stop()
  await upstream?.close()
  await configFile?.remove()
})

const formOf = (model: string): readonly Part[] => [
  ['model', model],
  ['stream', 'true'],
  ['file', wav(SECONDS), 'a.wav'],
]
const transcribe = (model: string): Promise<Asked> =>
  askForm(gateway.node.baseUrl, gateway.secret, formOf(model))

const SSE = { 'content-type': 'text/event-stream' }
const delta = (text: string): string => eventOf({ type: 'transcript.text.delta', delta: text })
const done = (text: string, usage?: object): string =>
  eventOf({ type: 'transcript.text.done', text, usage })
const TOKENS = {
  type: 'tokens',
  input_tokens: 33,
  input_token_details: { text_tokens: 3, audio_tokens: 30 },
  output_tokens: 5,
  total_tokens: 38,
}
const COST_OF_TOKENS = plus(perMillion(3, '2.5'), perMillion(30, '6'), perMillion(5, '10'))

const sends =
  (...events: readonly string[]): Behaviour =>
  (_call, response) =>
    void response.writeHead(200, SSE).end(events.join(''))

const parsed = (answer: Pick<Asked, 'text'>): any[] =>
  eventsOf(answer.text).map((data) => JSON.parse(data))

const nano = (usd: Parameters<typeof nanoBrl>[0]): bigint => nanoBrl(usd, FX_RATE, MARKUP)

/** A client that reads event by event. */
async function listen(model: string, signal: AbortSignal) {
  const requestId = randomUUID()
  const answer = await fetch(`${gateway.node.baseUrl}${TRANSCRIPTIONS}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.secret}`,
      'content-type': FORM_TYPE,
      'x-svc-request-id': requestId,
    },
    body: new Uint8Array(form(formOf(model))),
    signal,
  })
  assert.equal(answer.status, 200)
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return {
    requestId,
    /** The text so far, as soon as it has this. */
    async until(part: string): Promise<string> {
      while (!text.includes(part)) {
        const read = await reader?.read()
        assert.ok(read && !read.done, `"${part}" never came: ${text}`)
        text += read.value
      }
      return text
    },
  }
}

for (const [model, usage, cost] of [
  ['by-token', TOKENS, COST_OF_TOKENS],
  ['by-second', { type: 'duration', seconds: SECONDS }, perHour(SECONDS, '0.36')],
] as const)
  test(`${model}: each delta leaves while the upstream still listens, and the end after its charge`, async () => {
    const [heard, whole] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    upstream.play(model, async (_call, response) => {
      response.writeHead(200, SSE).write(delta('Bom '))
      await heard.promise
      response.write(delta('dia.'))
      await whole.promise
      response.end(done('Bom dia.', usage))
    })
    const client = await listen(model, AbortSignal.timeout(30_000))
    assert.equal(await client.until('Bom '), delta('Bom '))
    heard.resolve()
    assert.equal(await client.until('dia.'), delta('Bom ') + delta('dia.'))
    const open = await gateway.database.db.selectFrom('holds').select('id').execute()
    assert.equal(open.length, 1)
    whole.resolve()
    const text = await client.until('cost_billed_brl')
    // The charge is there before the client has done anything more.
    const outcome = await theOutcome(gateway, client.requestId)
    assert.deepEqual([outcome.outcome, outcome.usage_kind], ['charged', 'exact'])
    assert.equal(outcome.cost_billed_nano_brl, nano(cost))
    assert.equal(amountIn(text, 'cost_billed_brl'), nano(cost))
    const last = parsed({ text }).at(-1)
    assert.deepEqual(
      [last.type, last.text, last.usage],
      ['transcript.text.done', 'Bom dia.', usage],
    )
    assert.match(upstream.callsOf(model).at(-1)?.text ?? '', /name="stream"\r\n\r\ntrue\r\n/)
  })

test('an upstream that ignores the wish, or whose model is a whisper, answers as events all the same', async () => {
  const plain = { text: 'Bom dia.', duration: SECONDS }
  for (const model of ['by-second', 'a-whisper']) {
    upstream.play(
      model,
      (_call, response) =>
        void response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify(plain)),
    )
    const answer = await transcribe(model)
    const [first, last, ...more] = parsed(answer)
    assert.deepEqual([first.delta, last.text, more], ['Bom dia.', 'Bom dia.', []])
    assert.equal(amountIn(answer.text, 'cost_billed_brl'), nano(perHour(SECONDS, '0.36')))
    const { outcome, usage_kind: kind } = await theOutcome(gateway, answer.requestId)
    assert.deepEqual([outcome, kind], ['charged', 'exact'])
  }
  assert.doesNotMatch(upstream.callsOf('a-whisper').at(-1)?.text ?? '', /name="stream"/)
})

test('a translation is not asked for as a stream', async () => {
  upstream.play(
    'by-second',
    (_call, response) =>
      void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ text: 'Good morning.', duration: SECONDS })),
  )
  const answer = await ask(gateway.node.baseUrl, '/audio/translations', {
    secret: gateway.secret,
    body: form(formOf('by-second')),
    headers: { 'content-type': FORM_TYPE },
  })
  assert.equal(parsed(answer).at(-1).text, 'Good morning.')
  assert.doesNotMatch(upstream.callsOf('by-second').at(-1)?.text ?? '', /name="stream"/)
})

test('the events of Mistral and the chunks of vLLM are read, too', async () => {
  const mistral = [
    eventOf({ type: 'transcription.language', audio_language: 'pt' }),
    eventOf({ type: 'transcription.text.delta', text: 'Bom ' }),
    eventOf({ type: 'transcription.text.delta', text: 'dia.' }),
    eventOf({
      type: 'transcription.done',
      text: 'Bom dia.',
      usage: { prompt_tokens: 3, completion_tokens: 5, prompt_audio_seconds: SECONDS },
    }),
  ]
  const part = (content: string, finish_reason: string | null): string =>
    eventOf({ object: 'transcription.chunk', choices: [{ delta: { content }, finish_reason }] })
  const vllm = [part('Bom ', 'stop'), part('dia.', 'stop'), 'data: [DONE]\n\n']
  for (const [events, kind] of [
    [mistral, 'exact'],
    [vllm, 'estimated'],
  ] as const) {
    upstream.play('by-second', sends(...events))
    const answer = await transcribe('by-second')
    const [first, second, last] = parsed(answer)
    assert.deepEqual([first.delta, second.delta, last.text], ['Bom ', 'dia.', 'Bom dia.'])
    const outcome = await theOutcome(gateway, answer.requestId)
    assert.deepEqual([outcome.outcome, outcome.usage_kind], ['charged', kind])
    assert.equal(amountIn(answer.text, 'cost_billed_brl'), outcome.cost_billed_nano_brl)
  }
})

test('text that comes with the end alone is a delta, and one that contradicts the deltas is not shown', async () => {
  for (const [events, deltas] of [
    [[done('Bom dia.', TOKENS)], ['Bom dia.']],
    [
      [delta('Bom'), done('Bom dia.', TOKENS)],
      ['Bom', ' dia.'],
    ],
    [[delta('Boa tarde.'), done('Bom dia.', TOKENS)], ['Boa tarde.']],
    [[done('', TOKENS)], []],
  ] as const) {
    upstream.play('by-token', sends(...events))
    const all = parsed(await transcribe('by-token'))
    assert.deepEqual(
      all.slice(0, -1).map((event) => event.delta),
      deltas,
    )
    assert.equal(all.at(-1).text, deltas.join(''))
    assert.deepEqual(all.at(-1).usage, TOKENS)
  }
})

test('without a report a whole transcript costs the estimate of a plain one', async () => {
  upstream.play('by-token', sends(delta('Bom dia.'), done('Bom dia.')))
  const streamed = await transcribe('by-token')
  upstream.play(
    'by-token',
    (_call, response) =>
      void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"text":"Bom dia."}'),
  )
  const plain = await transcribe('by-token')
  const [ofStream, ofPlain] = [
    await theOutcome(gateway, streamed.requestId),
    await theOutcome(gateway, plain.requestId),
  ]
  assert.deepEqual(ofStream, ofPlain)
  assert.deepEqual(
    [ofStream.usage_kind, ofStream.reason, ofStream.units],
    ['estimated', 'no_usage_reported', { input_audio_tokens: 80 }],
  )
})

test('before the first delta another route answers; after it none does, and what was heard is charged', async () => {
  const quiet = sends(delta(''), eventOf({ type: 'transcript.text.segment', text: 'x' }))
  for (const [nth, behaviour] of [cut, errorInEvent, quiet].entries()) {
    upstream.play('first', behaviour)
    upstream.play('second', sends(delta('Olá.'), done('Olá.', TOKENS)))
    const answer = await transcribe('two-routes')
    assert.equal(parsed(answer).at(-1).text, 'Olá.', answer.text)
    assert.equal(upstream.callsOf('second').length, nth + 1)
    assert.equal(amountIn(answer.text, 'cost_billed_brl'), nano(COST_OF_TOKENS))
  }
  const asked = upstream.callsOf('second').length
  upstream.play('first', sends(delta('Olá, ')))
  const answer = await transcribe('two-routes')
  assert.equal(parsed(answer).at(-1).error.code, 'upstream_error')
  assert.equal(upstream.callsOf('second').length, asked)
  assert.equal((await theOutcome(gateway, answer.requestId)).reason, 'stream_broken')
})

const errorInEvent: Behaviour = sends(
  eventOf({ type: 'error', error: { message: 'Zephyr is overloaded.', type: 'server_error' } }),
)

test('a stream that breaks off ends with an error that names nobody, and costs its sound and its text', async () => {
  const error = eventOf({ error: { message: 'Zephyr is overloaded.', type: 'server_error' } })
  for (const end of [error, '', 'data: [DONE]\n\n', 'data: zephyr}{\n\n']) {
    upstream.play('by-token', sends(delta('Bom '), delta('dia, '), end))
    const answer = await transcribe('by-token')
    const [first, second, last, ...more] = parsed(answer)
    assert.deepEqual([first.delta, second.delta, more], ['Bom ', 'dia, ', []])
    assert.equal(last.error.code, 'upstream_error')
    assert.doesNotMatch(answer.text, /zephyr/i)
    const outcome = await theOutcome(gateway, answer.requestId)
    assert.deepEqual(
      [outcome.outcome, outcome.usage_kind, outcome.reason],
      ['charged', 'estimated', 'stream_broken'],
    )
    assert.deepEqual([outcome.completion_tokens, outcome.units], [3, { input_audio_tokens: 80 }])
  }
})

test('a client that leaves pays what the upstream reports at the end', async () => {
  const [left, whole] = [new AbortController(), Promise.withResolvers<void>()]
  upstream.play('by-token', async (_call, response) => {
    response.writeHead(200, SSE).write(delta('Bom '))
    await whole.promise
    response.end(delta('dia.') + done('Bom dia.', TOKENS))
  })
  const client = await listen('by-token', left.signal)
  await client.until('Bom ')
  left.abort()
  whole.resolve()
  const outcome = await theOutcome(gateway, client.requestId)
  assert.deepEqual([outcome.outcome, outcome.usage_kind], ['charged', 'exact'])
  assert.equal(outcome.cost_billed_nano_brl, nano(COST_OF_TOKENS))
})

test('more text than the sound can have, or the hold covers, is cut', async () => {
  for (const model of ['by-token', 'by-second']) {
    upstream.play(model, async (_call, response) => {
      response.writeHead(200, SSE)
      response.on('error', () => {})
      for (let count = 0; count < 5_000 && !response.destroyed; count += 1)
        await new Promise((resolve) => response.write(delta('palavra '), resolve))
    })
    const answer = await transcribe(model)
    assert.equal(parsed(answer).at(-1).error.code, 'upstream_error')
    const outcome = await theOutcome(gateway, answer.requestId)
    assert.deepEqual([outcome.outcome, outcome.usage_kind], ['charged', 'estimated'])
    assert.ok(outcome.cost_billed_nano_brl <= outcome.held_nano_brl)
  }
})

test('after these tests nothing is held, and the audit passes', async () => {
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
})
