/** Answers as upstreams of the chat-completions format send them, which the published form does not know. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startOpenAiUpstream } from '../../../../test/harness/openai-upstream.ts'
import { StreamBroken, type ChatCall, type JsonObject, type StreamChunk } from '../contract.ts'
import type { OpenAiCompatibleOptions } from './create-openai-compatible.ts'

const upstream = await startOpenAiUpstream()
after(() => upstream.close())

const { signal } = new AbortController()

function callOf(more: Partial<ChatCall>): ChatCall {
  return {
    model: 'm',
    body: { model: 'x', messages: [] },
    memo: {},
    isStream: false,
    outputTokensMax: 10,
    imageBytes: 0,
    hasImageAddresses: false,
    hasCacheControl: false,
    cachesForAnHour: false,
    hasFiles: false,
    hasAudio: false,
    webSearchesMax: 0,
    callId: 'call-1',
    ...more,
  }
}

async function plain(choice: JsonObject, usage?: JsonObject) {
  upstream.answerJson({ choices: [{ index: 0, ...choice }], usage })
  return upstream.provider.completeChat(callOf({}), signal)
}

/** The chunks of a stream of these events, and the fault that broke it. */
async function streamed(events: readonly (JsonObject | string)[]) {
  const text = events
    .map((event) => (typeof event === 'string' ? event : `data: ${JSON.stringify(event)}\n\n`))
    .join('')
  upstream.answerWith((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text)
  })
  const stream = await upstream.provider.completeChat(callOf({ isStream: true }), signal)
  assert.ok(stream.kind === 'stream')
  const chunks: StreamChunk[] = []
  let failure
  try {
    await stream.each((some) => {
      chunks.push(...some)
      return undefined
    })
  } catch (error) {
    assert.ok(error instanceof StreamBroken)
    ;({ failure } = error)
  }
  return { chunks, failure }
}

const DONE = 'data: [DONE]\n\n'
const chunk = (delta: JsonObject, finish_reason: string | null = null): JsonObject => ({
  choices: [{ index: 0, delta, finish_reason }],
})
const finishOf = (chunks: readonly StreamChunk[]): unknown[] =>
  chunks
    .flatMap(({ body }) => body.choices as JsonObject[])
    .map(({ finish_reason: reason }) => reason)
    .filter((reason) => reason !== null && reason !== undefined)

const REASONS: Readonly<Record<string, string>> = {
  max_tokens: 'length',
  MAX_TOKENS: 'length',
  model_length: 'length',
  model_context_window_exceeded: 'length',
  sensitive: 'content_filter',
  content_filtered: 'content_filter',
  SAFETY: 'content_filter',
  refusal: 'content_filter',
  eos: 'stop',
  end_turn: 'stop',
  COMPLETE: 'stop',
  tool_use: 'tool_calls',
  function_call: 'function_call',
}
const FAILED = ['error', 'network_error', 'insufficient_system_resource', 'abort', 'TIMEOUT']

test('a finish reason that means cut is `length` or `content_filter`, and one that means failed is no answer', async () => {
  const usage = { prompt_tokens: 5, completion_tokens: 2 }
  for (const [reason, published] of Object.entries(REASONS)) {
    const answer = await plain({ message: { content: 'meia' }, finish_reason: reason })
    assert.ok(answer.kind === 'answer', reason)
    assert.equal((answer.body.choices as JsonObject[])[0]?.finish_reason, published, reason)
    const { chunks, failure } = await streamed([chunk({ content: 'a' }), chunk({}, reason), DONE])
    assert.deepEqual([finishOf(chunks), failure], [[published], undefined], reason)
  }
  for (const reason of FAILED) {
    const answer = await plain({ message: { content: 'meia' }, finish_reason: reason })
    assert.equal(answer.kind, 'failure', reason)
    const { chunks, failure } = await streamed([
      chunk({ content: 'a' }),
      chunk({}, reason),
      { choices: [], usage },
      DONE,
    ])
    assert.deepEqual(finishOf(chunks), [], reason)
    assert.equal(failure?.reason, 'bad_answer', reason)
    // What it reports is charged all the same.
    assert.equal(chunks.at(-1)?.usage?.completionTokens, 2, reason)
  }
})

test('an error of a choice in an answer with status 200 is a failure of the upstream', async () => {
  const error = { code: 502, message: 'provider failed' }
  const answer = await plain({ message: { content: '' }, finish_reason: 'error', error })
  assert.equal(answer.kind, 'failure')
})

test('an answer without choices is none, plain and streamed', async () => {
  upstream.answerJson({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 0 } })
  const answer = await upstream.provider.completeChat(callOf({}), signal)
  assert.equal(answer.kind === 'failure' && answer.reason, 'bad_answer')
  const { failure } = await streamed([{ choices: [], usage: { prompt_tokens: 5 } }, DONE])
  assert.equal(failure?.reason, 'bad_answer')
})

test('a whole answer without a finish reason gets one, and a stream that breaks off does not', async () => {
  const whole = await plain({ message: { content: 'ok' }, finish_reason: null })
  assert.ok(whole.kind === 'answer')
  assert.equal((whole.body.choices as JsonObject[])[0]?.finish_reason, 'stop')
  const ended = await streamed([chunk({ content: 'ok' }), DONE])
  assert.deepEqual([finishOf(ended.chunks), ended.failure], [['stop'], undefined])
  const cut = await streamed([chunk({ content: 'ok' })])
  assert.equal(cut.failure?.reason, 'connection_lost')
})

test('an event without data is none, wherever it stands', async () => {
  for (const empty of ['data:\n\n', 'data: \n\n', ': x\n\n', '\n\n', 'data:\r\n\r\n'])
    for (const at of [0, 1, 2]) {
      const events: (JsonObject | string)[] = [chunk({ content: 'ok' }), chunk({}, 'stop'), DONE]
      events.splice(at, 0, empty)
      const { chunks, failure } = await streamed(events)
      assert.deepEqual([finishOf(chunks), failure], [['stop'], undefined], JSON.stringify(empty))
    }
})

test('arguments that come as an object are their text, with all digits of large integers', async () => {
  const text = '{"id":12345678901234567890}'
  const called = `{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":${text}}}`
  upstream.answerJson(
    `{"choices":[{"index":0,"finish_reason":"tool_calls","message":{"content":null,"tool_calls":[${called}]}}]}`,
  )
  const answer = await upstream.provider.completeChat(callOf({}), signal)
  assert.ok(answer.kind === 'answer')
  const argumentsOf = ({ choices }: JsonObject, part: string): unknown =>
    (choices as any[])[0][part].tool_calls[0].function.arguments
  assert.equal(argumentsOf(answer.body, 'message'), text)
  const { chunks } = await streamed([
    `data: {"choices":[{"index":0,"delta":{"tool_calls":[${called}]},"finish_reason":null}]}\n\n`,
    chunk({}, 'tool_calls'),
    DONE,
  ])
  assert.equal(argumentsOf((chunks[0] as StreamChunk).body, 'delta'), text)
})

test('tokens of a cache are counted under every name that providers give them', async () => {
  const base = { prompt_tokens: 1_000, completion_tokens: 5 }
  for (const [more, cached, written] of [
    [{ cached_tokens: 600 }, 600, 0],
    [{ prompt_cache_hit_tokens: 600 }, 600, 0],
    [{ prompt_tokens_details: { cached_tokens: 600 } }, 600, 0],
    [{ cache_read_input_tokens: 600, cache_creation_input_tokens: 100 }, 600, 100],
    [{ prompt_tokens_details: { cached_tokens: 0, cache_creation_input_tokens: 600 } }, 0, 600],
    [{ prompt_tokens_details: { cached_tokens: 0 }, cached_tokens: 600 }, 600, 0],
  ] as const) {
    const usage = { ...base, ...more }
    const message = { message: { content: 'ok' }, finish_reason: 'stop' }
    const answer = await plain(message, usage)
    assert.ok(answer.kind === 'answer')
    const { chunks } = await streamed([
      chunk({ content: 'ok' }),
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] },
      DONE,
    ])
    for (const counted of [answer.usage, chunks.at(-1)?.usage])
      assert.deepEqual(
        [counted?.cachedTokens, counted?.cacheWriteTokens],
        [cached, written],
        JSON.stringify(more),
      )
  }
})

test('a pause is told in seconds, milliseconds or as a date by the clock of the upstream', async () => {
  const date = 'Sat, 28 Nov 2026 10:00:00 GMT'
  for (const [headers, seconds] of [
    [{ 'retry-after': '7' }, 7],
    [{ 'retry-after': 'Sat, 28 Nov 2026 10:00:09 GMT', date }, 9],
    [{ 'retry-after-ms': '4500', 'retry-after': '60' }, 5],
    [{ 'retry-after': 'Sat, 28 Nov 2026 09:00:00 GMT', date }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
  ] as const) {
    upstream.answerJson({ error: {} }, 429, { ...headers })
    const answer = await upstream.provider.completeChat(callOf({}), signal)
    assert.ok(answer.kind === 'failure')
    assert.equal(answer.retryAfterSeconds, seconds, JSON.stringify(headers))
  }
})

async function sent(
  options: Partial<OpenAiCompatibleOptions>,
  body: JsonObject,
  model = 'm',
): Promise<any> {
  upstream.answerJson({ choices: [{ message: { content: 'ok' }, finish_reason: 'stop' }] })
  await upstream.open(options).completeChat(callOf({ model, body }), signal)
  return JSON.parse(String(upstream.asked.at(-1)?.body))
}

test('an upstream gets roles, ids and efforts that it knows, the same for a call and its result', async () => {
  const id = 'toolu_01A09q90qw90lq917835lq9'
  const messages = [
    { role: 'developer', content: 'regra' },
    { role: 'assistant', content: null, tool_calls: [{ id, function: { name: 'f' } }] },
    { role: 'tool', tool_call_id: id, content: 'r' },
    { role: 'assistant', content: null, tool_calls: [{ id: 'abcdef123', function: {} }] },
  ]
  const other = await sent({ hasShortCallIds: true }, { messages, reasoning_effort: 'max' })
  assert.equal(other.messages[0].role, 'system')
  const [made] = other.messages[1].tool_calls
  assert.match(made.id, /^[A-Za-z0-9]{9}$/)
  assert.equal(other.messages[2].tool_call_id, made.id)
  assert.equal(other.messages[3].tool_calls[0].id, 'abcdef123')
  assert.equal(other.reasoning_effort, 'high')
  const plainly = await sent({}, { messages, reasoning_effort: 'none' })
  assert.equal(plainly.messages[1].tool_calls[0].id, id)
  assert.equal(plainly.reasoning_effort, 'none')
  assert.equal(
    (await sent({}, { messages, reasoning_effort: 'none' }, 'gpt-5')).reasoning_effort,
    'low',
  )
})
