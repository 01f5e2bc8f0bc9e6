// deep: an attack
/** Clients that leave, or read slowly, while the upstream goes on billing. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { resolutionsOf, type UsageEvent } from './resolutions-of.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { sound } from '../harness/ask.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  eventOf,
  hang,
  startScriptedUpstream,
  status,
  type Behaviour,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'

let upstream: ScriptedUpstream
let gateway: TestGateway
let config: ConfigFile

const CALL_TIMEOUT_SECONDS = 12
/** One model for each test: the tests run in parallel, because two of them last as long as a call may. */
const REASONERS = [
  'slow-reader',
  'ends-badly',
  'no-answer',
  'empty-report',
  'only-empty-report',
  'unwritable',
]

before(async () => {
  upstream = await startScriptedUpstream()
  const entry = (id: string, cancelStopsBilling: boolean): object => ({
    id,
    kind: 'openai-compatible',
    base_url: upstream.baseUrl,
    cancel_stops_billing: cancelStopsBilling,
    first_byte_timeout_ms: 60_000,
    idle_timeout_ms: 60_000,
    retries: 0,
  })
  const model = (id: string, upstreams: string[], more: object = {}): object => ({
    id,
    category: 'llm',
    prices: { input: 1, output: 2, reasoning: 2 },
    markup_multiplier: '1.5',
    routes: upstreams.map((one, place) => ({ upstream: one, model: `${id}-${place}` })),
    context_tokens: 128_000,
    max_output_tokens: 100_000,
    ...more,
  })
  config = await writeConfigFile({
    upstreams: [entry('stops', true), entry('runs', false)],
    models: [
      model('plain-stops', ['stops'], { can_reason: false }),
      model('two-routes', ['stops', 'runs'], { can_reason: false }),
      model('two-routes-early', ['stops', 'runs'], { can_reason: false }),
      ...REASONERS.map((id) => model(id, ['runs'], { can_reason: true })),
    ],
  } as never)
  gateway = await startGateway({
    CATRACA_CONFIG: config.path,
    CALL_TIMEOUT_SECONDS: String(CALL_TIMEOUT_SECONDS),
  })
})

after(async () => {
  await gateway.stop()
  await upstream.close()
  await config.remove()
})

interface RawCall {
  readonly requestId: string
  readonly socket: Socket
  received: string
  until(text: string): Promise<void>
}

function rawCall(model: string, more: object): RawCall {
  const requestId = randomUUID()
  const body = JSON.stringify(sound(model, more))
  const socket = connect(gateway.node.port, '127.0.0.1')
  socket.on('error', () => {})
  const call: RawCall = {
    requestId,
    socket,
    received: '',
    async until(text) {
      while (!call.received.includes(text)) {
        assert.ok(
          !socket.destroyed || call.received.includes(text),
          `closed before ${text}: ${call.received.slice(-400)}`,
        )
        await sleep(5)
      }
    },
  }
  socket.on('data', (bytes) => (call.received += bytes.toString('utf8')))
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.secret}\r\n` +
      `x-svc-request-id: ${requestId}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
  return call
}

async function chargeOf(requestId: string): Promise<Record<string, unknown>> {
  const events = await resolutionsOf(gateway.database, requestId, 40_000)
  assert.equal(events.length, 1)
  const { outcome, reason, usage_kind, prompt_tokens, completion_tokens, reasoning_tokens } =
    events[0] as UsageEvent
  return { outcome, reason, usage_kind, prompt_tokens, completion_tokens, reasoning_tokens }
}

const USAGE = { prompt_tokens: 1_000, completion_tokens: 5_000, total_tokens: 6_000 }
const SSE = { 'content-type': 'text/event-stream' }
const chunk = (delta: object, finish: string | null = null): string =>
  eventOf({ choices: [{ index: 0, delta, finish_reason: finish }] })

/** The whole answer with its finish_reason and, after a delay, the usage. */
const answers: Behaviour = async (_call, response) => {
  response.writeHead(200, SSE)
  response.write(chunk({ content: 'Tudo ' }))
  response.write(chunk({ content: 'certo.' }))
  response.write(chunk({}, 'stop'))
  await sleep(700)
  response.end(`${eventOf({ choices: [], usage: USAGE })}data: [DONE]\n\n`)
}

const EXACT = {
  outcome: 'charged',
  reason: null,
  usage_kind: 'exact',
  prompt_tokens: 1_000,
  completion_tokens: 5_000,
  reasoning_tokens: 0,
}

describe('a client that leaves or reads slowly', { concurrency: true }, () => {
  test('B1 a client that leaves at finish_reason is charged the usage that the upstream reports', async () => {
    upstream.play('plain-stops-0', answers)
    const call = rawCall('plain-stops', { stream: true })
    await call.until('"stop"')
    call.socket.destroy()
    assert.deepEqual(await chargeOf(call.requestId), EXACT)
  })

  test("B2 a failed route does not end the call's next attempt, whose upstream goes on billing", async () => {
    upstream.play('two-routes-0', status(500))
    upstream.play('two-routes-1', answers)
    const call = rawCall('two-routes', { stream: true })
    await call.until('"stop"')
    call.socket.destroy()
    assert.deepEqual(await chargeOf(call.requestId), EXACT)
  })

  test("B2b a client that leaves before the second route's first output is charged that route's usage", async () => {
    upstream.play('two-routes-early-0', status(500))
    upstream.play('two-routes-early-1', async (call, response) => {
      await sleep(1_000)
      return answers(call, response)
    })
    const call = rawCall('two-routes-early', { stream: true })
    while (upstream.callsOf('two-routes-early-1').length === 0) await sleep(10)
    call.socket.destroy()
    assert.deepEqual(await chargeOf(call.requestId), EXACT)
  })

  test('B3 a client that reads slowly does not get the rest of the answer for free', async () => {
    // With `logprobs`, which the client may request, a token may be long: a few of them fill every buffer. Each has
    // one text, so that the gateway reads the rest in far less than the half of the call's time that is left for it.
    const WORDS = 300
    const LOGPROB_BYTES = 50_000
    const usage = {
      prompt_tokens: 20,
      completion_tokens: 96_000,
      total_tokens: 96_020,
      completion_tokens_details: { reasoning_tokens: 90_000 },
    }
    upstream.play('slow-reader-0', (_call, response) => {
      response.writeHead(200, SSE)
      const logprobs = {
        content: [{ token: 'p'.repeat(LOGPROB_BYTES), logprob: -0.123456789, bytes: null }],
      }
      const word = eventOf({
        choices: [{ index: 0, delta: { content: 'palavra ' }, logprobs, finish_reason: null }],
      })
      const all = Buffer.from(
        word.repeat(WORDS) +
          chunk({}, 'stop') +
          eventOf({ choices: [], usage }) +
          'data: [DONE]\n\n',
      )
      response.end(all)
    })
    const call = rawCall('slow-reader', { stream: true })
    await call.until('palavra')
    call.socket.pause()
    // A small read now and then: never 60 s without reading.
    const sips = setInterval(() => {
      call.socket.once('data', () => call.socket.pause())
      call.socket.resume()
    }, 1_000)
    const charge = await chargeOf(call.requestId).finally(() => clearInterval(sips))
    assert.equal(charge.completion_tokens, 96_000)
    assert.ok(!call.received.includes('[DONE]'), 'the client was cut off')
    call.socket.destroy()
  })

  test('B4 reported usage counts even if the connection then breaks', async () => {
    const hasArrived = Promise.withResolvers<void>()
    upstream.play('ends-badly-0', async (_call, response) => {
      response.writeHead(200, SSE)
      // In one write: the gateway that has passed on the last word has read the usage too.
      response.write(
        chunk({ content: 'Tudo certo.' }) +
          chunk({}, 'stop') +
          eventOf({ choices: [], usage: USAGE }),
      )
      await hasArrived.promise
      response.destroy()
    })
    const call = rawCall('ends-badly', { stream: true })
    await call.until('"stop"')
    hasArrived.resolve()
    await call.until('0\r\n\r\n')
    assert.deepEqual(await chargeOf(call.requestId), EXACT)
  })

  test('B5 an unanswered plain call is not charged just because its client had left', async () => {
    upstream.play('no-answer-0', hang)
    const call = rawCall('no-answer', {})
    while (upstream.callsOf('no-answer-0').length === 0) await sleep(10)
    call.socket.destroy()
    assert.deepEqual((await chargeOf(call.requestId)).outcome, 'released')
  })

  test('B6 reported usage counts even if an empty report follows', async () => {
    upstream.play('empty-report-0', (_call, response) => {
      response.writeHead(200, SSE)
      response.write(chunk({ content: 'Tudo certo.' }))
      response.write(chunk({}, 'stop'))
      response.write(eventOf({ choices: [], usage: USAGE }))
      response.end(
        `${eventOf({ choices: [], usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } })}data: [DONE]\n\n`,
      )
    })
    const call = rawCall('empty-report', { stream: true })
    await call.until('[DONE]')
    call.socket.destroy()
    assert.deepEqual(await chargeOf(call.requestId), EXACT)
  })

  test('B6b an answer whose only report has no tokens is charged by our own count', async () => {
    upstream.play('only-empty-report-0', (_call, response) => {
      response.writeHead(200, SSE)
      response.write(chunk({ content: 'Tudo certo.' }))
      response.write(chunk({}, 'stop'))
      response.end(
        `${eventOf({ choices: [], usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } })}data: [DONE]\n\n`,
      )
    })
    const call = rawCall('only-empty-report', { stream: true })
    await call.until('[DONE]')
    const { outcome, completion_tokens: tokens } = await chargeOf(call.requestId)
    assert.equal(outcome, 'charged')
    assert.ok(Number(tokens) > 0, String(tokens))
  })

  test('B7 the delivered part is charged when a later chunk cannot be written', async () => {
    const DEPTH = 20_000
    const hasArrived = Promise.withResolvers<void>()
    upstream.play('unwritable-0', async (_call, response) => {
      response.writeHead(200, SSE)
      for (let word = 0; word < 200; word++) response.write(chunk({ content: 'palavra ' }))
      await hasArrived.promise
      const logprobs = `${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}`
      response.write(
        `data: {"choices":[{"index":0,"delta":{"content":"x"},"logprobs":${logprobs},"finish_reason":null}]}\n\n`,
      )
      response.end(`${eventOf({ choices: [], usage: USAGE })}data: [DONE]\n\n`)
    })
    const call = rawCall('unwritable', { stream: true })
    await call.until('palavra')
    hasArrived.resolve()
    const charge = await chargeOf(call.requestId)
    const words = call.received.split('palavra ').length - 1
    assert.equal(
      charge.outcome,
      'charged',
      `${words} words were delivered: ${JSON.stringify(charge)}`,
    )
  })
})

test('after all of these tests no hold is open, and the audit is clean', async () => {
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
})
