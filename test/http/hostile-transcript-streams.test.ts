// deep: attacks
/** Whatever an upstream sends in place of a transcript, it costs no more than its hold, and no whole transcript is free. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { after, before, test } from 'node:test'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { effort } from '../harness/effort.ts'
import fc from '../harness/fast-check.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  amountIn,
  form,
  FORM_TYPE,
  outcomesOf,
  TRANSCRIPTIONS,
  theOutcome,
  wav,
} from '../harness/media-calls.ts'
import {
  eventOf,
  startScriptedUpstream,
  type Behaviour,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'

const MODELS = ['by-token', 'by-second'] as const
const SILENT_MS = 300

let upstream: ScriptedUpstream
let configFile: ConfigFile
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  const model = (id: string, more: object): unknown => ({
    id,
    category: 'audio',
    routes: [{ upstream: 'up', model: id }],
    ...more,
  })
  configFile = await writeConfigFile({
    upstreams: [
      {
        id: 'up',
        kind: 'openai-compatible',
        base_url: upstream.baseUrl,
        retries: 0,
        breaker: { failures: 0 },
        first_byte_timeout_ms: SILENT_MS,
        idle_timeout_ms: SILENT_MS,
      },
    ],
    models: [
      model('by-token', {
        prices: { input: '2.5', input_audio: '6', output: '10' },
        max_output_tokens: 100,
        audio: { tokens_per_second_max: 20 },
      }),
      model('by-second', { prices: { audio_hour: '0.36' } }),
    ] as never,
  })
  gateway = await startGateway({ CATRACA_CONFIG: configFile.path })
})
after(async () => {
  await gateway?.stop()
  await upstream?.close()
  await configFile?.remove()
})

const count = fc.constantFrom<unknown>(
  0,
  1,
  7,
  40,
  41,
  1_000,
  999_999_999,
  2 ** 53,
  -1,
  0.5,
  '7',
  null,
)
const usage = fc.oneof(
  fc.constant(undefined),
  fc.record({ type: fc.constant('duration'), seconds: count }),
  fc.record(
    {
      input_tokens: count,
      output_tokens: count,
      input_token_details: fc.record({ audio_tokens: count, text_tokens: count }),
    },
    { requiredKeys: [] },
  ),
)
const text = fc.constantFrom<unknown>('Bom ', 'dia.', 'ção 日本 ', '', 'a'.repeat(3_000), 7, null)
const piece: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 5,
    arbitrary: text.map((delta) => eventOf({ type: 'transcript.text.delta', delta })),
  },
  {
    weight: 3,
    arbitrary: fc
      .record({ type: fc.constant('transcript.text.done'), text, usage })
      .map((event) => eventOf(event)),
  },
  {
    weight: 1,
    arbitrary: text.map((content) =>
      eventOf({ choices: [{ delta: { content }, finish_reason: 'stop' }] }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      'data: [DONE]\n\n',
      eventOf({ type: 'error', error: { message: 'Zephyr' }, usage: { seconds: 1 } }),
      eventOf({ error: 'Zephyr' }),
      eventOf({ type: 'transcript.text.segment', text: 'Bom ' }),
      eventOf([]),
      'data: {"type":\n\n',
      ': comment\r\n\r\n',
      'event: transcript.text.done\n\n',
    ),
  },
)

interface Attack {
  readonly model: (typeof MODELS)[number]
  readonly pieces: readonly string[]
  readonly end: 'end' | 'cut' | 'silence'
  /** Bytes of each write. */
  readonly bytes: number
  readonly clientLeaves: boolean
}

const attack: fc.Arbitrary<Attack> = fc.record({
  model: fc.constantFrom(...MODELS),
  pieces: fc.array(piece, { maxLength: 8 }),
  end: fc.constantFrom('end', 'end', 'cut', 'silence'),
  bytes: fc.constantFrom(1, 7, 100_000),
  clientLeaves: fc.constantFrom(false, false, true),
})

function sends({ pieces, end, bytes }: Omit<Attack, 'model'>): Behaviour {
  return async (_call, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const all = Buffer.from(pieces.join(''))
    for (let at = 0; at < all.length && !response.destroyed; at += bytes)
      await written(response, all.subarray(at, at + bytes))
    if (end === 'end') response.end()
    else if (end === 'cut') response.destroy()
    else response.flushHeaders()
  }
}

function written(response: ServerResponse, part: Buffer): Promise<void> {
  return new Promise((resolve) => response.write(part, () => resolve()))
}

interface Heard {
  readonly requestId: string
  readonly status: number
  readonly events: readonly any[]
  readonly text: string
}

/** Reads all that comes, or leaves after the first part. */
async function listen(secret: string, model: string, leaves: boolean): Promise<Heard> {
  const requestId = randomUUID()
  const answer = await fetch(`${gateway.node.baseUrl}${TRANSCRIPTIONS}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': FORM_TYPE,
      'x-svc-request-id': requestId,
    },
    body: new Uint8Array(
      form([
        ['model', model],
        ['stream', 'true'],
        ['file', wav(1), 'a.wav'],
      ]),
    ),
  })
  let text = ''
  const decoder = new TextDecoder()
  for await (const part of answer.body ?? []) {
    text += decoder.decode(part, { stream: true })
    if (leaves) break
  }
  const whole = answer.status === 200 ? text.split('\n\n').slice(0, -1) : []
  const events = whole.map((event) => JSON.parse(event.slice('data: '.length)))
  return { requestId, status: answer.status, events, text }
}

async function assertPaid({ model, clientLeaves, ...sent }: Attack): Promise<void> {
  const { secret, customerId } = await seedCustomer(gateway.database.db, { balanceBrl: '1' })
  upstream.play(model, sends({ clientLeaves, ...sent }))
  const heard = await listen(secret, model, clientLeaves)
  const outcome = await theOutcome(gateway, heard.requestId)
  const { outcome: kind, usage_kind: usageKind, cost_billed_nano_brl: cost } = outcome
  assert.ok(cost <= outcome.held_nano_brl, `${cost} of ${outcome.held_nano_brl}`)
  const account = await findAccount(gateway.database.db, customerId)
  assert.ok(account && account.balanceNanoBrl >= 0n)
  assert.doesNotMatch(heard.text, /zephyr/i)

  const deltas = heard.events.flatMap(({ delta }) => (delta === undefined ? [] : [delta]))
  const done = heard.events.find(({ type }) => type === 'transcript.text.done')
  if (deltas.length > 0 || done) assert.deepEqual([kind, cost > 0n], ['charged', true])
  if (done) {
    assert.equal(done.text, deltas.join(''))
    assert.equal(amountIn(heard.text, 'cost_billed_brl'), cost)
  }
  if (kind === 'released') assert.equal(cost, 0n)
  if (kind === 'charged' && !clientLeaves) assert.equal(heard.status, 200)
  // An error may come with a report, too.
  const isReported = sent.pieces.some((event) => event.includes('"usage"'))
  if (kind === 'charged' && usageKind === 'exact') assert.ok(isReported)
  if (clientLeaves || done) return
  // A client that stays gets the end of the transcript, or learns that it has none.
  const last = heard.status === 200 ? heard.events.at(-1) : JSON.parse(heard.text)
  assert.equal(last.error.code, 'upstream_error')
}

test('whatever comes, in whatever parts, is charged within its hold, and never given away whole', async () => {
  await fc.assert(fc.asyncProperty(attack, assertPaid), {
    numRuns: effort({ ordinary: 150, full: 2_000 }),
  })
})

test('events without an end, and ends without events, cost what was heard before them', async () => {
  const heard = eventOf({ type: 'transcript.text.delta', delta: 'Bom ' })
  for (const model of MODELS)
    for (const first of [heard, ''])
      for (const endless of [`data: ${'a'.repeat(20_000_000)}`, 'data: a\n'.repeat(3_000_000)]) {
        const pieces = [first, endless]
        await assertPaid({ model, pieces, end: 'silence', bytes: 1_000_000, clientLeaves: false })
      }
})

test('a client that leaves before the first word pays the whole transcript, once', async () => {
  const left = new AbortController()
  const hasLeft = Promise.withResolvers<void>()
  upstream.play('by-token', async (_call, response) => {
    left.abort()
    await hasLeft.promise
    const usage = { input_tokens: 10, output_tokens: 2 }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(eventOf({ type: 'transcript.text.done', text: 'Bom dia.', usage }))
  })
  const requestId = randomUUID()
  const asked = fetch(`${gateway.node.baseUrl}${TRANSCRIPTIONS}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.secret}`,
      'content-type': FORM_TYPE,
      'x-svc-request-id': requestId,
    },
    body: new Uint8Array(
      form([
        ['model', 'by-token'],
        ['stream', 'true'],
        ['file', wav(1), 'a.wav'],
      ]),
    ),
    signal: left.signal,
  })
  await assert.rejects(asked)
  hasLeft.resolve()
  const outcome = await theOutcome(gateway, requestId)
  assert.deepEqual(
    [outcome.outcome, outcome.usage_kind, outcome.completion_tokens, outcome.units],
    ['charged', 'exact', 2, { input_audio_tokens: 10 }],
  )
  assert.equal((await outcomesOf(gateway, requestId)).length, 1)
})

test('after all of this nothing is held, and the audit is clean', async () => {
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
})
