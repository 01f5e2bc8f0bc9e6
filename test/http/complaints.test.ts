/**
 * What customers complain about elsewhere (test/acceptance/specification.md, "Complaints about others"), in each format of clients,
 * plain and streamed. The tests that need other set-ups stand with them.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ask, sound, type Asked } from '../harness/ask.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { configured, theOutcome, type Outcome } from '../harness/media-calls.ts'
import {
  cutAfterHead,
  cutInTheMiddle,
  empty,
  errorInBody,
  eventOf,
  GOOD_TEXT,
  GOOD_USAGE,
  startScriptedUpstream,
  type Behaviour,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'

let gateway: TestGateway
let upstream: ScriptedUpstream

before(async () => {
  upstream = await startScriptedUpstream()
  const model = (id: string): object => ({
    id,
    category: 'llm',
    prices: { input: 1, output: 10 },
    markup_multiplier: '1.5',
    routes: [{ upstream: 'scripted', model: id }],
    max_output_tokens: 4_096,
  })
  gateway = await startGateway(
    configured({
      upstreams: [
        {
          id: 'scripted',
          kind: 'openai-compatible',
          base_url: upstream.baseUrl,
          retries: 0,
          breaker: { failures: 0 },
        },
      ],
      models: ['wordy', 'breaking', 'mute', 'priced'].map(model),
    }),
  )
})

after(async () => {
  await gateway.stop()
  await upstream.close()
})

const OUTPUT_TOKENS_MAX = 50

const FORMATS: Record<string, (model: string, stream: boolean) => object> = {
  '/chat/completions': (model, stream) => sound(model, { stream, max_tokens: OUTPUT_TOKENS_MAX }),
  '/messages': (model, stream) => sound(model, { stream, max_tokens: OUTPUT_TOKENS_MAX }),
  '/responses': (model, stream) => ({
    model,
    stream,
    input: [{ role: 'user', content: 'Olá, catraca!' }],
    max_output_tokens: OUTPUT_TOKENS_MAX,
  }),
}

/** Asks in each format; the outcomes of the calls in that order. */
async function askInEach(
  model: string,
  isStream: boolean,
  check: (answer: Asked) => void = () => {},
): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const [path, body] of Object.entries(FORMATS)) {
    const { secret } = gateway
    const answer = await ask(gateway.node.baseUrl, path, { secret, body: body(model, isStream) })
    check(answer)
    outcomes.push(await theOutcome(gateway, answer.requestId))
  }
  return outcomes
}

function assertAllAlike(outcomes: readonly Outcome[]): Outcome {
  const [first, ...others] = outcomes
  assert.ok(first)
  for (const other of others)
    assert.deepEqual({ ...other, held_nano_brl: 0n }, { ...first, held_nano_brl: 0n })
  return first
}

const chunk = (delta: object, reason: string | null = null): string =>
  eventOf({ choices: [{ index: 0, delta, finish_reason: reason }] })

/** Far more than was asked for, and no usage. */
const wordy: Behaviour = ({ body }, response) => {
  const text = 'palavra '.repeat(20_000)
  if (body.stream !== true) {
    const message = { role: 'assistant', content: text }
    response.writeHead(200, { 'content-type': 'application/json' })
    return void response.end(
      JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }),
    )
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(`${chunk({ content: text })}${chunk({}, 'stop')}data: [DONE]\n\n`)
}

test('complaint 3: an estimate is never above the output limit that was asked for', async () => {
  upstream.play('wordy', wordy)
  for (const isStream of [false, true]) {
    const outcome = assertAllAlike(await askInEach('wordy', isStream))
    assert.equal(outcome.usage_kind, 'estimated')
    assert.ok(outcome.completion_tokens <= OUTPUT_TOKENS_MAX, `${outcome.completion_tokens}`)
    assert.ok(outcome.cost_billed_nano_brl <= outcome.held_nano_brl)
  }
})

test('complaint 4: an upstream that breaks off in mid-stream without usage costs the delivered output, the same in every format', async () => {
  upstream.play('breaking', cutInTheMiddle)
  const outcomes = await askInEach('breaking', true, ({ text }) =>
    assert.match(text, /error|failed/),
  )
  const outcome = assertAllAlike(outcomes)
  assert.deepEqual(
    [outcome.outcome, outcome.usage_kind, outcome.reason],
    ['charged', 'estimated', 'stream_broken'],
  )
  assert.ok(outcome.completion_tokens > 0 && outcome.completion_tokens < 20)
})

test('complaint 5: a call that ended before its first token costs nothing', async () => {
  for (const behaviour of [cutAfterHead, errorInBody, empty]) {
    upstream.play('mute', behaviour)
    for (const isStream of [false, true]) {
      const outcomes = await askInEach('mute', isStream, ({ status }) => assert.equal(status, 502))
      const outcome = assertAllAlike(outcomes)
      assert.deepEqual([outcome.outcome, outcome.cost_billed_nano_brl], ['released', 0n])
    }
  }
})

test('complaint 13: the cost that an upstream reports beside its tokens is not charged a second time', async () => {
  const usage = { ...GOOD_USAGE, cost: 12.5, cost_details: { upstream_inference_cost: 12.5 } }
  upstream.play('priced', ({ body }, response) => {
    const message = { role: 'assistant', content: GOOD_TEXT }
    if (body.stream !== true) {
      response.writeHead(200, { 'content-type': 'application/json' })
      const choices = [{ index: 0, message, finish_reason: 'stop' }]
      return void response.end(JSON.stringify({ choices, usage }))
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    // Twice, as some upstreams do.
    const last = eventOf({ choices: [], usage })
    response.end(
      `${chunk({ content: GOOD_TEXT })}${chunk({}, 'stop')}${last}${last}data: [DONE]\n\n`,
    )
  })
  for (const isStream of [false, true]) {
    const outcome = assertAllAlike(await askInEach('priced', isStream))
    const { prompt_tokens: prompt, completion_tokens: completion } = GOOD_USAGE
    // USD 1 and 10 a million, at 5.2 and a markup of 1.5.
    assert.equal(outcome.cost_billed_nano_brl, BigInt((prompt + completion * 10) * 7_800))
  }
})

test('after these calls the audit is clean', async () => {
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
})
