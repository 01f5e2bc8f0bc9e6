/** The stream of a chat reads the same however its bytes are cut, and its faults are reported. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../harness/fast-check.ts'
import { ApiError } from '../../web/src/api/api-error.ts'
import { readChatEvents, type ChatEvent } from '../../web/src/api/chat-events.ts'
import { createEventParser, readServerSentEvents } from '../../web/src/api/server-sent-events.ts'

const STREAM =
  ': ping\n\n' +
  'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\n' +
  'data: {"choices":[{"delta":{"reasoning_content":"Hm… "}}]}\r\n\r\n' +
  'event: message\rid: 7\rdata:{"choices":[{"delta":{"content":"Olá 🎟️"}}]}\r\r' +
  ': ping\n\n: ping\n' +
  'data: {"choices":[{"delta":\ndata: {"content":", ação"}}]}\n\n' +
  'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"clima","arguments":""}}]}}]}\n\n' +
  'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}\n\n' +
  'data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}\n\n' +
  'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":41,"completion_tokens_details":{"reasoning_tokens":3}},"cost_billed_brl":0.0005785}\n\n' +
  'data: [DONE]\n\n'

const EVENTS: readonly ChatEvent[] = [
  { kind: 'reasoning', text: 'Hm… ' },
  { kind: 'text', text: 'Olá 🎟️' },
  { kind: 'text', text: ', ação' },
  { kind: 'tool_call', index: 0, id: 'c1', name: 'clima', arguments: '' },
  { kind: 'tool_call', index: 0, id: '', name: '', arguments: '{}' },
  { kind: 'finish', reason: 'tool_calls' },
  {
    kind: 'charged',
    promptTokens: 7,
    completionTokens: 41,
    reasoningTokens: 3,
    costBrl: 0.0005785,
  },
]

test('a stream reads the same wherever it is cut, also within characters and line endings', async () => {
  const bytes = new TextEncoder().encode(STREAM)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 60 }), async (cuts) => {
      assert.deepEqual(await collect(streamOf(bytes, cuts)), EVENTS)
    }),
    { numRuns: 60 },
  )
  const everywhere = Array.from(bytes, (_, place) => place)
  assert.deepEqual(await collect(streamOf(bytes, everywhere)), EVENTS)
})

test('an event ends with its empty line, and an unfinished event is dropped', () => {
  const parse = createEventParser()
  assert.deepEqual(parse('data: um\ndata: dois\n'), [])
  assert.deepEqual(parse('\ndata: três'), ['um\ndois'])
  assert.deepEqual(parse('\r'), [])
  assert.deepEqual(parse('\n\r\n: ping\n\n'), ['três'])
  assert.deepEqual(parse('data: quatro'), [])
})

test("an error in mid-stream is reported as the gateway's, after the events before it", async () => {
  const bytes = new TextEncoder().encode(
    'data: {"choices":[{"delta":{"content":"Olá"}}]}\n\n' +
      'data: {"error":{"message":"A resposta foi interrompida.","type":"upstream_error","code":"upstream_error"}}\n\n',
  )
  const seen: ChatEvent[] = []
  await assert.rejects(
    collect(streamOf(bytes, []), seen),
    (error) =>
      error instanceof ApiError &&
      error.code === 'upstream_error' &&
      error.details === 'A resposta foi interrompida.',
  )
  assert.deepEqual(seen, [{ kind: 'text', text: 'Olá' }])
})

test('a stream that ends early, fails or is not JSON is reported as broken', async () => {
  const isBroken = (error: unknown): boolean =>
    error instanceof ApiError && error.code === 'stream_broken'
  for (const text of [
    '',
    'data: {"choices":[{"delta":{"content":"Olá"}}]}\n\n',
    'data: [DONE]',
    'data: {"choices":[\n\ndata: [DONE]\n\n',
  ])
    await assert.rejects(collect(streamOf(new TextEncoder().encode(text), [])), isBroken, text)
  const failing = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new TypeError('network error')),
  })
  await assert.rejects(collect(failing), isBroken)
})

test('a reader who stops reading cancels the stream', async () => {
  let isCancelled = false
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new TextEncoder().encode('data: mais\n\n')),
    cancel: () => void (isCancelled = true),
  })
  for await (const data of readServerSentEvents(endless)) {
    assert.equal(data, 'mais')
    break
  }
  assert.equal(isCancelled, true)
})

function streamOf(bytes: Uint8Array, cuts: readonly number[]): ReadableStream<Uint8Array> {
  const places = [0, ...cuts.toSorted((left, right) => left - right), bytes.length]
  return new ReadableStream({
    start(controller) {
      for (const [index, place] of places.slice(1).entries())
        controller.enqueue(bytes.subarray(places[index], place))
      controller.close()
    },
  })
}

async function collect(
  stream: ReadableStream<Uint8Array>,
  seen: ChatEvent[] = [],
): Promise<readonly ChatEvent[]> {
  for await (const event of readChatEvents(stream)) seen.push(event)
  return seen
}
