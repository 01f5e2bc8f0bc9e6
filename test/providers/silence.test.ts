/** How long an upstream may be silent before the content of an answer, and within it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChatCall, JsonObject, Provider } from '../../src/gateway/providers/contract.ts'
import { createOpenAiCompatible } from '../../src/gateway/providers/openai-compatible/create-openai-compatible.ts'
import { complete, openAiSdk, type Outcome } from './test-provider.ts'

const IDLE_MS = 500
const LIMITS = {
  cancelStopsBilling: true,
  connectTimeoutMs: 2_000,
  firstByteTimeoutMs: 5 * IDLE_MS,
  idleTimeoutMs: IDLE_MS,
  connectionsMax: 4,
}

interface Format {
  readonly name: string
  open(url: string, limits: typeof LIMITS): Provider
  /** A whole answer, in two parts. */
  readonly plain: readonly [string, string]
  readonly stream: readonly [string, string]
  /** The request, if the upstream gets it in another format than chat completions. */
  readonly native?: ChatCall['native']
}

const event = (body: JsonObject): string => `data: ${JSON.stringify(body)}\n\n`
const halves = (text: string): [string, string] => [text.slice(0, 30), text.slice(30)]

const openAiUsage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
const openAiChoice = { index: 0, finish_reason: 'stop' }
const content = { role: 'assistant', content: 'Recife' }
const OPENAI: Format = {
  name: 'openai-compatible',
  open: (url, limits) =>
    createOpenAiCompatible({
      baseUrl: url,
      apiKey: undefined,
      maxTokensField: 'max_tokens',
      ...limits,
    }),
  plain: halves(
    JSON.stringify({ choices: [{ ...openAiChoice, message: content }], usage: openAiUsage }),
  ),
  stream: [
    event({ choices: [{ index: 0, delta: content }] }),
    `${event({ choices: [{ ...openAiChoice, delta: {} }], usage: openAiUsage })}data: [DONE]\n\n`,
  ],
}

const candidate = { index: 0, content: { role: 'model', parts: [{ text: 'Recife' }] } }
const finished = {
  candidates: [{ ...candidate, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
}
const GEMINI: Format = {
  name: 'google',
  open: (url, limits) => openAiSdk('google', { baseUrl: url, apiKey: 'own', ...limits }),
  plain: halves(JSON.stringify(finished)),
  stream: [event({ candidates: [candidate] }), event(finished)],
}

const item = (status: string): JsonObject => ({
  type: 'reasoning',
  id: 'rs_1',
  status,
  summary: [],
})
const RESPONSES_EVENTS = {
  thinks: [
    event({ type: 'response.created', response: { status: 'in_progress' } }),
    event({ type: 'response.output_item.added', output_index: 0, item: item('in_progress') }),
  ],
  text: event({ type: 'response.output_text.delta', output_index: 1, delta: 'Recife' }),
  end: event({
    type: 'response.completed',
    response: { status: 'completed', output: [], usage: { input_tokens: 3, output_tokens: 2 } },
  }),
}
const RESPONSES: Format = {
  ...OPENAI,
  name: 'Responses',
  open: (url, limits) =>
    createOpenAiCompatible({
      baseUrl: url,
      apiKey: undefined,
      maxTokensField: 'max_tokens',
      speaksResponses: true,
      ...limits,
    }),
  native: { format: 'responses', body: { input: 'Qual é a capital?' }, flags: [], webSearches: 0 },
  stream: [RESPONSES_EVENTS.text, RESPONSES_EVENTS.end],
}

type Part = string | number

/** Sends a call to an upstream that sends the head at once, and then the parts; a number is a pause in milliseconds. */
async function meet(
  format: Format,
  isStream: boolean,
  parts: readonly Part[],
  limits: Partial<typeof LIMITS> = {},
): Promise<Outcome> {
  async function play(response: ServerResponse): Promise<void> {
    const type = isStream ? 'text/event-stream' : 'application/json'
    response.writeHead(200, { 'content-type': type }).flushHeaders()
    for (const part of parts) {
      if (typeof part === 'number') await sleep(part)
      else response.write(part)
    }
    response.end()
  }
  const server = createServer((request, response) => {
    request.resume().on('end', () => void play(response))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const provider = format.open(url, { ...LIMITS, ...limits })
  try {
    const messages = [{ role: 'user', content: 'Qual é a capital?' }]
    const body = { model: 'gemini-2.5-flash', messages }
    return await complete(provider, { body, native: format.native, isStream })
  } finally {
    await provider.close()
    server.closeAllConnections()
    server.close()
  }
}

describe('silence after the head of an answer', { concurrency: true }, () => {
  for (const format of [OPENAI, GEMINI]) {
    for (const isStream of [false, true]) {
      const [first, second] = isStream ? format.stream : format.plain
      const keepAlive = isStream ? ': working\n\n' : ' \n'
      const name = `${format.name}, ${isStream ? 'streamed' : 'plain'}`
      const answered = async (parts: readonly Part[]): Promise<void> => {
        const { failure, turn, usage } = await meet(format, isStream, parts)
        assert.equal(failure, undefined)
        assert.equal(usage?.completionTokens, 2)
        assert.match(String(turn.message.content), /^Recife/)
      }

      test(`${name}: content that comes later than the idle time limit is read`, () =>
        answered([2.5 * IDLE_MS, first, second]))

      test(`${name}: bytes that keep the connection alive do not begin the content`, () =>
        answered([keepAlive, 2.5 * IDLE_MS, keepAlive, 2.5 * IDLE_MS, first, second]))

      test(`${name}: no content within the first limit is first_byte_timeout`, async () => {
        const limits = { firstByteTimeoutMs: 200, idleTimeoutMs: 2_000 }
        const { failure } = await meet(format, isStream, [1_500, first, second], limits)
        assert.equal(failure?.reason, 'first_byte_timeout')
      })

      test(`${name}: content that stops for longer than the idle time limit is idle_timeout`, async () => {
        const { failure } = await meet(format, isStream, [first, 4 * IDLE_MS, second])
        assert.equal(failure?.reason, 'idle_timeout')
      })

      test(`${name}: pauses below the idle time limit may add up to more than it`, () => {
        const parts = (first + second).match(/[^]{1,40}/g) as string[]
        return answered(parts.flatMap((part) => [part, IDLE_MS / 3]))
      })
    }
  }
})

describe('silence of a model that thinks', { concurrency: true }, () => {
  const begun = [event({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] })]
  for (const [format, opening] of [
    [OPENAI, begun],
    [RESPONSES, RESPONSES_EVENTS.thinks],
  ] as const) {
    const [text, end] = format.stream

    test(`${format.name}: after events without output, a model thinks as long as before the first byte`, async () => {
      const { failure, usage } = await meet(format, true, [...opening, 2.5 * IDLE_MS, text, end])
      assert.equal(failure, undefined)
      assert.equal(usage?.completionTokens, 2)
    })

    test(`${format.name}: a model that thinks for longer than that is idle_timeout`, async () => {
      const limits = { firstByteTimeoutMs: 2 * IDLE_MS }
      const { failure } = await meet(format, true, [...opening, 6 * IDLE_MS, text, end], limits)
      assert.equal(failure?.reason, 'idle_timeout')
    })

    test(`${format.name}: in the middle of its output, a stream has the shorter limit`, async () => {
      const { failure } = await meet(format, true, [...opening, text, 4 * IDLE_MS, end])
      assert.equal(failure?.reason, 'idle_timeout')
    })
  }

  test('after its last chunk, a stream has the shorter limit', async () => {
    const [text, end] = OPENAI.stream
    const [finish = '', done = ''] = end.split(/(?=data: \[DONE\])/)
    const { failure } = await meet(OPENAI, true, [text, finish, 4 * IDLE_MS, done])
    assert.equal(failure?.reason, 'idle_timeout')
  })

  test('between two items of a response, the model may think', async () => {
    const ended = event({
      type: 'response.output_item.done',
      output_index: 1,
      item: item('completed'),
    })
    const { text, end } = RESPONSES_EVENTS
    const { failure } = await meet(RESPONSES, true, [text, ended, 2.5 * IDLE_MS, end])
    assert.equal(failure, undefined)
  })
})

test('a stream whose reader is slower than the idle time limit is not cut', async () => {
  const long = event({ choices: [{ index: 0, delta: { content: 'a'.repeat(200_000) } }] })
  const server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (let count = 0; count < 20; count += 1) response.write(long)
    request.resume().on('end', () => response.end(OPENAI.stream[1]))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const provider = OPENAI.open(url, { ...LIMITS, idleTimeoutMs: 100 })
  const call = {
    model: 'm',
    body: { model: 'm', messages: [] },
    memo: {},
    isStream: true,
    outputTokensMax: 1,
    imageBytes: 0,
    hasImageAddresses: false,
    hasCacheControl: false,
    cachesForAnHour: false,
    hasFiles: false,
    hasAudio: false,
    webSearchesMax: 0,
    callId: 'call-1',
  }
  const stream = await provider.completeChat?.(call, new AbortController().signal)
  assert.equal(stream?.kind, 'stream')
  let characters = 0
  let reads = 0
  await stream.each(async (chunks) => {
    characters += JSON.stringify(chunks).length
    if (reads++ < 3) await sleep(350)
    return undefined
  })
  assert.ok(characters >= 20 * 200_000)
  await provider.close()
  server.close()
})
