// deep: generated streams
/** Events that only add text take a shorter way through the relay: it must show and count the same as the long way. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChatWriter } from '../../src/gateway/calls/chat/chat-format.ts'
import { createChatCompletionsFormat } from '../../src/gateway/calls/chat/formats/chat-completions/chat-completions-format.ts'
import {
  countOutput,
  countText,
  type OutputCount,
} from '../../src/gateway/calls/chat/output-texts.ts'
import { isRefusal } from '../../src/gateway/calls/refusal.ts'
import {
  StreamBroken,
  type ChatStream,
  type JsonObject,
} from '../../src/gateway/providers/contract.ts'
import { createCallNumbers } from '../../src/gateway/providers/openai-compatible/number-calls.ts'
import { readStream } from '../../src/gateway/providers/openai-compatible/read-stream.ts'
import { effort } from '../harness/effort.ts'
import fc, { anyGrapheme } from '../harness/fast-check.ts'

const ids = {
  hide: () => undefined,
  reveal: () => undefined,
  hidden: (id: string) => id,
  revealed: (id: string) => id,
}
const format = createChatCompletionsFormat(ids, () => assert.fail('a chat, not a response'))

function createWriter(): ChatWriter {
  const body = { model: 'm', messages: [{ role: 'user', content: 'Olá' }], stream: true }
  const request = format.readRequest(Buffer.from(JSON.stringify(body)), {
    customerId: 'a customer',
  })
  if (isRefusal(request)) assert.fail(request.message)
  return format.createWriter({ id: 'x', modelId: 'm', request })
}

const texts = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(' gira', 'ção', '🎟️', '', 'a') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('"', '\\', '\n', '"content":"', '"}', '\u2028', '\\"', '{"a":1}'),
  },
  { weight: 1, arbitrary: fc.string({ unit: anyGrapheme, maxLength: 12 }) },
)
const fields = fc.constantFrom('content', 'reasoning_content', 'reasoning', 'refusal')
const deltas = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.tuple(fields, texts).map(([field, text]) => ({ [field]: text })),
  },
  {
    weight: 2,
    arbitrary: fc.record(
      {
        role: fc.constantFrom('assistant', '"content":"a"'),
        content: fc.oneof(texts, fc.constant(null)),
        reasoning: texts,
        secret: texts,
        tool_calls: fc.constant([{ index: 0, id: 'a', function: { arguments: '"content":"x"' } }]),
      },
      { requiredKeys: [] },
    ),
  },
)
const choices = deltas.map((delta) => ({ index: 0, delta, finish_reason: null as string | null }))
const bodies = fc.oneof(
  {
    weight: 10,
    arbitrary: choices.map((choice): JsonObject => ({ id: 'up', choices: [choice], usage: null })),
  },
  {
    weight: 2,
    arbitrary: fc.record(
      {
        id: fc.constantFrom('up', 'other'),
        content: texts,
        choices: fc.array(
          choices.map((choice) => ({ ...choice, logprobs: { content: [{ token: 'a' }] } })),
          { maxLength: 2 },
        ),
        usage: fc.constantFrom(null, { prompt_tokens: 3, completion_tokens: 2 }),
      },
      { requiredKeys: ['choices'] },
    ),
  },
)
/** A run of events of one shape, as models send them, and others between. */
const events = fc.array(
  fc
    .tuple(bodies, fc.array(texts, { maxLength: 6 }), fields)
    .map(([body, more, field]) => [
      JSON.stringify(body),
      ...more.map((text) =>
        JSON.stringify({ id: 'up', choices: [{ index: 0, delta: { [field]: text } }] }),
      ),
    ]),
  { maxLength: 8 },
)
/** Also ends the stream, because it would break off without a finish reason. */
const LAST = JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })

function readParts(parts: readonly Buffer[]): ChatStream {
  const left = [...parts]
  return readStream(
    {
      async each(take) {
        for (let part = left.shift(); part; part = left.shift()) {
          const result = await take(part)
          if (result !== undefined) return result
        }
        return undefined
      },
      mayThink: () => undefined,
      failure: () => undefined,
      discard: () => undefined,
      cancel: () => undefined,
      text: () => assert.fail('not read as a text'),
      beginning: () => assert.fail('not read as a text'),
      bytes: () => assert.fail('not read as a whole'),
    },
    { outputTokensMax: 64 },
  )
}

interface Relayed {
  readonly shown: string
  readonly output: OutputCount
  readonly bodies: readonly JsonObject[]
  readonly usages: number
}

async function relay(bytes: Buffer, cuts: readonly number[]): Promise<Relayed> {
  const edges = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
  const parts = edges.slice(1).map((end, at) => bytes.subarray(edges[at], end))
  const stream = readParts(parts)
  const writer = createWriter()
  const output = { deltas: 0, bytes: 0, writtenBytes: 0 }
  const relayed = { shown: '', output, bodies: [] as JsonObject[], usages: 0 }
  await stream.each((chunks) => {
    for (const chunk of chunks) {
      relayed.bodies.push(structuredClone(chunk.body))
      if (chunk.usage) relayed.usages += 1
      if (chunk.delta) countText(chunk.delta.text, output)
      else countOutput(chunk.body, output)
      relayed.shown += chunk.delta ? writer.delta?.(chunk.delta) : (writer.chunk(chunk.body) ?? '')
    }
    return undefined
  })
  return { ...relayed, shown: untimed(relayed.shown) }
}

/** The seconds turn between two writers. */
function untimed(shown: string): string {
  return shown.replaceAll(/"created":\d+/g, '"created":0')
}

/** Every event parsed and written as a whole. */
function relayWhole(data: readonly string[]): Relayed {
  const writer = createWriter()
  const output = { deltas: 0, bytes: 0, writtenBytes: 0 }
  const bodies = data.map((one) => JSON.parse(one) as JsonObject)
  const calls = createCallNumbers()
  for (const body of bodies) calls.number(body)
  for (const body of bodies) countOutput(body, output)
  const shown = bodies.map((body) => writer.chunk(structuredClone(body)) ?? '').join('')
  return {
    shown: untimed(shown),
    output,
    bodies,
    usages: bodies.filter(({ usage }) => usage).length,
  }
}

test('events that only add text are shown and counted like events that are parsed whole', async () => {
  await fc.assert(
    fc.asyncProperty(
      events,
      fc.array(fc.nat({ max: 4_000 }), { maxLength: 12 }),
      async (runs, cuts) => {
        const data = [...runs.flat(), LAST]
        const bytes = Buffer.from([...data, '[DONE]'].map((one) => `data: ${one}\n\n`).join(''))
        const inBytes = cuts.map((cut) => cut % (bytes.length + 1))
        assert.deepEqual(await relay(bytes, inBytes), relayWhole(data))
      },
    ),
    { numRuns: effort({ ordinary: 400, full: 20_000 }) },
  )
})

test('most events of a usual stream take the short way', async () => {
  const event = (text: string) =>
    `data: {"id":"a","choices":[{"index":0,"delta":{"content":"${text}"},"finish_reason":null}]}\n\n`
  const bytes = Buffer.from(
    ` gira| e| nada|\\n| é`.split('|').map(event).join('') + `data: ${LAST}\n\ndata: [DONE]\n\n`,
  )
  const found: (string | undefined)[] = []
  await readParts([bytes]).each(
    (chunks) => void found.push(...chunks.map(({ delta }) => delta?.text)),
  )
  assert.deepEqual(found, [undefined, ' e', ' nada', '\n', ' é', undefined])
})

test('an event that begins and ends like the one before it, but is not JSON, breaks the stream', async () => {
  const event = (text: string) =>
    `data: {"choices":[{"index":0,"delta":{"content":"${text}"}}]}\n\n`
  for (const wrong of ['a"', 'a\u0001', 'a\\']) {
    const stream = readParts([Buffer.from(event('a') + event(wrong))])
    await assert.rejects(
      stream.each((chunks) => assert.equal(chunks.length, 1) as undefined),
      StreamBroken,
    )
  }
})

test('a stream that varies another field in every event is parsed whole, after a few tries', async () => {
  const event = (text: string, other: number) =>
    `data: {"choices":[{"index":0,"delta":{"content":"${text}"}}],"nonce":"${other}"}\n\n`
  const varied = Array.from({ length: 8 }, (_, at) => event('a', at))
  const alike = [event('b', 9), event('c', 9)]
  const end = `data: ${LAST}\n\ndata: [DONE]\n\n`
  const found: (string | undefined)[] = []
  const stream = readParts([Buffer.from([...varied, ...alike, end].join(''))])
  await stream.each((chunks) => void found.push(...chunks.map(({ delta }) => delta?.text)))
  assert.deepEqual(new Set(found), new Set([undefined]))
})
