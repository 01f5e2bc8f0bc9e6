// deep: generated requests, every field of the format
/** Requests in the Messages format to upstreams that speak it: what is sent as it came, what is never sent, the answers. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { toChatBody } from '../../src/gateway/calls/chat/formats/messages/to-chat-body.ts'
import { readChatRequest } from '../../src/gateway/calls/chat/chat-request.ts'
import { isRefusal } from '../../src/gateway/calls/refusal.ts'
import {
  countOutput,
  outputTexts,
  type OutputCount,
} from '../../src/gateway/calls/chat/output-texts.ts'
import type {
  ChatAnswer,
  ChatCall,
  JsonObject,
  Provider,
  StreamBroken,
  StreamChunk,
  UpstreamFailure,
} from '../../src/gateway/providers/contract.ts'
import { effort } from '../harness/effort.ts'
import fc from '../harness/fast-check.ts'
import { conversation, PNG_BASE64 } from '../harness/generate-messages-conversation.ts'
import { startFixtureServer, type Fault, type FixtureServer } from './fixture-server.ts'
import { ANTHROPIC, BEDROCK, VERTEX_CLAUDE } from './test-provider.ts'

let server: FixtureServer
let provider: Provider
before(async () => {
  server = await startFixtureServer()
  provider = ANTHROPIC.open(server.url)
})
beforeEach(() => {
  server.requests.length = 0
})
after(async () => {
  await provider.close()
  await server.close()
})

const finishOf = ({ choices }: JsonObject): unknown =>
  (choices as { finish_reason?: unknown }[])[0]?.finish_reason

const FIXTURES = ['tools', 'final', 'length', 'refusal', 'no-arguments']

const HELLO = [{ role: 'user', content: 'Olá' }]

function callOf(fields: JsonObject, changes: Partial<ChatCall> = {}): ChatCall {
  const body = { model: ANTHROPIC.model, max_tokens: 4_096, messages: HELLO, ...fields }
  const request = readChatRequest(toChatBody(structuredClone(body)), 100)
  if (isRefusal(request)) assert.fail(request.message)
  const { imageBytes, hasImageAddresses, hasCacheControl, cachesForAnHour, hasFiles, hasAudio } =
    request
  return {
    model: body.model,
    body: request.body,
    native: { format: 'messages', body, flags: [], webSearches: 0 },
    memo: {},
    isStream: request.isStream,
    outputTokensMax: body.max_tokens,
    callId: 'call-1',
    imageBytes,
    hasImageAddresses,
    hasCacheControl,
    cachesForAnHour,
    hasFiles,
    hasAudio,
    webSearchesMax: 0,
    ...changes,
  }
}

async function answerOf(call: ChatCall, from: Provider = provider) {
  const outcome = await from.completeChat?.(call, new AbortController().signal)
  assert.ok(outcome)
  if (outcome.kind !== 'stream') return { outcome, chunks: [] }
  const chunks: StreamChunk[] = []
  await outcome.each((some) => void chunks.push(...some))
  return { outcome, chunks }
}

async function sentFor(fields: JsonObject, changes?: Partial<ChatCall>): Promise<any> {
  const { outcome } = await answerOf(callOf(fields, changes))
  assert.equal(outcome.kind, 'answer')
  return server.requests.at(-1)?.body
}

test('a conversation arrives as its client wrote it: order, thinking, signatures, calls, images', async () => {
  await fc.assert(
    fc.asyncProperty(conversation, fc.nat(), async (one, seed) => {
      // Thinking between calls keeps its place, too.
      const messages = one.messages.map((message) =>
        message.role === 'assistant' && seed % 2 === 0
          ? { ...message, content: message.content.toReversed() }
          : message,
      )
      const sent = await sentFor({ system: one.system, messages })
      assert.deepEqual(sent.system, one.system)
      assert.deepEqual(sent.messages, messages)
    }),
    { numRuns: effort({ ordinary: 40, full: 1_000 }) },
  )
})

test('what has a price that nobody knows is never sent', async () => {
  const sent = await sentFor(
    {
      service_tier: 'auto',
      speed: 'fast',
      inference_geo: 'us',
      container: 'container_1',
      unknown_field: { web: true },
      mcp_servers: [],
      context_management: { edits: [{ type: 'compact_20260112' }] },
      metadata: { user_id: 'user-1', other: 1 },
      tools: [
        { type: 'web_search_20250305', name: 'web_search' },
        { name: 'look', input_schema: { type: 'object' }, defer_loading: true, unknown: 1 },
      ],
      tool_choice: { type: 'tool', name: 'web_search' },
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a', citations: [{ type: 'page_location' }], unknown: 1 },
            {
              type: 'document',
              source: { type: 'text', media_type: 'text/plain', data: 'b', file_id: 'f' },
              title: 't',
              citations: { enabled: true },
            },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
            { type: 'thinking', thinking: 'unsigned', signature: '' },
            { type: 'tool_use', id: 'toolu_1', name: 'look', input: {}, caller: { type: 'x' } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'toolu_1',
              is_error: true,
              content: [{ type: 'tool_reference', tool_name: 'bash' }],
            },
          ],
        },
      ],
    },
    {},
  )
  assert.deepEqual(sent, {
    model: ANTHROPIC.model,
    max_tokens: 4_096,
    metadata: { user_id: 'user-1' },
    tools: [{ name: 'look', input_schema: { type: 'object' } }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          {
            type: 'document',
            source: { type: 'text', media_type: 'text/plain', data: 'b' },
            title: 't',
          },
        ],
      },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'toolu_1', is_error: true, content: [] }],
      },
    ],
  })
})

test('a flag and its fields are sent together, or vanish together', async () => {
  const edits = [
    { type: 'clear_tool_uses_20250919', keep: { type: 'tool_uses', value: 3 } },
    { type: 'clear_thinking_20251015', keep: 'all' },
    { type: 'compact_20260112' },
  ]
  const fields = { context_management: { edits } }
  const call = callOf(fields)
  const flags = ['context-management-2025-06-27', 'context-1m-2025-08-07', 'fast-mode-2026-02-01']
  await answerOf({
    ...call,
    native: { format: 'messages', body: call.native?.body ?? {}, flags, webSearches: 0 },
  })
  const withFlag = server.requests.at(-1)
  assert.equal(withFlag?.headers['anthropic-beta'], 'context-management-2025-06-27')
  // Without thinking there is none to clear.
  assert.deepEqual(withFlag?.body.context_management, { edits: edits.slice(0, 1) })
  await answerOf(call)
  const without = server.requests.at(-1)
  assert.equal(without?.headers['anthropic-beta'], undefined)
  assert.equal(without?.body.context_management, undefined)
})

test('the limit that is held for is the limit that is sent, and the budget of thinking is within it', async () => {
  const thinking = { type: 'enabled', budget_tokens: 30_000, display: 'summarized' }
  const lowered = await sentFor({ max_tokens: 64_000, thinking }, { outputTokensMax: 2_000 })
  assert.equal(lowered.max_tokens, 2_000)
  assert.deepEqual(lowered.thinking, { ...thinking, budget_tokens: 1_999 })
  const low = await sentFor({ max_tokens: 64_000, thinking }, { outputTokensMax: 1_000 })
  assert.equal(low.max_tokens, 1_000)
  assert.equal(low.thinking, undefined)
  // The gateway has taken the effort away: this model cannot reason.
  const { body } = callOf({ thinking })
  const { reasoning_effort: _effort, ...unthinking } = body
  const plain = await sentFor({ thinking }, { body: unthinking })
  assert.equal(plain.thinking, undefined)
})

test('both lifetimes of a cache are sent, an hour only with a price for it', async () => {
  const hour = { type: 'ephemeral', ttl: '1h' }
  const short = { type: 'ephemeral' }
  const fields = {
    system: [{ type: 'text', text: 's', cache_control: { ...hour, scope: 'global' } }],
    tools: [{ name: 'look', input_schema: { type: 'object' }, cache_control: hour }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'a', cache_control: hour }] },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 't', name: 'look', input: {}, cache_control: short }],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 't', content: 'r', cache_control: short }],
      },
    ],
  }
  const marks = ({ system, tools, messages }: any): unknown[] => [
    system[0].cache_control,
    tools[0].cache_control,
    ...messages.map(({ content }: any) => content[0].cache_control),
  ]
  const priced = await sentFor(fields, { cachesForAnHour: true })
  assert.deepEqual(marks(priced), [hour, hour, hour, short, short])
  const unpriced = await sentFor(fields, { cachesForAnHour: false })
  assert.deepEqual(marks(unpriced), [short, short, short, short, short])
})

test('what the model does not take in its own format is translated', async () => {
  // Sonnet 4.5 has no adaptive thinking.
  const sent = await sentFor({ thinking: { type: 'adaptive' } })
  assert.equal(sent.thinking.type, 'enabled')
  const bedrock = BEDROCK.open(server.url)
  const { outcome } = await answerOf(callOf({}, { model: BEDROCK.model }), bedrock)
  assert.equal(outcome.kind === 'answer' && outcome.native, undefined)
  await bedrock.close()
})

test('the answer is the upstream’s own, beside its translation and its usage', async () => {
  for (const fixture of FIXTURES) {
    server.play(fixture)
    const translated = await answerOf({ ...callOf({}), native: undefined })
    const { outcome } = await answerOf(callOf({}))
    assert.ok(outcome.kind === 'answer' && translated.outcome.kind === 'answer')
    const counted = ({ body, usage }: ChatAnswer) => ({ texts: outputTexts(body), usage })
    assert.deepEqual(counted(outcome), counted(translated.outcome))
    assert.equal(finishOf(outcome.body), finishOf(translated.outcome.body))
    assert.deepEqual(outcome.native, JSON.parse(await fixtureOf(`${fixture}.json`)))
  }
  server.play(undefined)
})

test('the events of a stream are the upstream’s own, each once, after its output is counted', async () => {
  // The translation writes the empty arguments of a call.
  for (const fixture of FIXTURES.filter((name) => name !== 'no-arguments')) {
    server.play(fixture)
    const translated = await answerOf({ ...callOf({}), native: undefined, isStream: true })
    const { chunks } = await answerOf(callOf({}, { isStream: true }))
    const counted = (all: readonly StreamChunk[]) => {
      const output: OutputCount = { deltas: 0, bytes: 0, writtenBytes: 0 }
      for (const { body } of all) countOutput(body, output)
      const reports = all.flatMap(({ usage }) => usage ?? [])
      return { output, reports, finish: all.map(({ body }) => finishOf(body)).filter(Boolean) }
    }
    assert.deepEqual(counted(chunks), counted(translated.chunks))
    const events = (await fixtureOf(`${fixture}.sse`))
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => JSON.parse(line.slice('data: '.length)) as JsonObject)
    assert.deepEqual(
      chunks.flatMap(({ native }) => native ?? []),
      events.slice(0, chunks.flatMap(({ native }) => native ?? []).length),
    )
    assert.ok(chunks.every(({ native }) => native !== undefined))
    // Nothing is shown before there is output: another upstream could still answer.
    assert.ok(((chunks[0] as StreamChunk).body.choices as unknown[]).length > 0)
  }
  server.play(undefined)
})

const FAULTS: readonly Fault[] = [
  ...[400, 401, 413, 429, 500, 529].map((status) => ({
    kind: 'status' as const,
    status,
    body: '{"type":"error","error":{"type":"some_error","message":"no"}}',
    headers: { 'retry-after': '7' },
  })),
  { kind: 'error_first' },
  { kind: 'error_middle' },
  { kind: 'cut_middle' },
  { kind: 'end_middle' },
]

test('every fault fails as it does when the request is translated, after the same output', async () => {
  for (const fault of FAULTS)
    for (const isStream of [false, true]) {
      server.fail(fault)
      const seen = async (native: ChatCall['native']) => {
        const call = callOf({}, { isStream })
        const outcome = await provider.completeChat?.(
          { ...call, native: native && call.native },
          new AbortController().signal,
        )
        if (outcome?.kind !== 'stream') return { failure: outcome, texts: '' }
        let texts = ''
        const ended = await outcome
          .each((chunks) => {
            for (const { body } of chunks)
              texts += String((body as any).choices[0]?.delta?.content ?? '')
            return undefined
          })
          .then(
            () => 'whole',
            (error: unknown) => (error as StreamBroken).failure,
          )
        return { failure: ended, texts }
      }
      const translated = await seen(undefined)
      const own = await seen(callOf({}).native)
      const reasonOf = ({ failure }: typeof own): unknown => {
        const { reason, status, retryAfterSeconds } = (failure ?? {}) as Partial<UpstreamFailure>
        return { reason, status, retryAfterSeconds }
      }
      const which = `${JSON.stringify(fault)} ${isStream ? 'streamed' : 'plain'}`
      assert.deepEqual(reasonOf(own), reasonOf(translated), which)
      assert.equal(own.texts, translated.texts, which)
    }
  server.fail(undefined)
})

test('a hanging upstream, a hostile one and a call that is aborted fail, and nothing is left open', async () => {
  const impatient = ANTHROPIC.open(server.url, { firstByteTimeoutMs: 100, idleTimeoutMs: 100 })
  for (const [kind, reason] of [
    ['hang', 'first_byte_timeout'],
    ['hang_middle', 'idle_timeout'],
  ] as const) {
    server.fail({ kind })
    const outcome = await impatient.completeChat?.(
      callOf({}, { isStream: true }),
      new AbortController().signal,
    )
    const failure =
      outcome?.kind === 'stream'
        ? await outcome
            .each(() => undefined)
            .then(
              () => assert.fail('it ended'),
              (error: StreamBroken) => error.failure,
            )
        : (outcome as UpstreamFailure)
    assert.equal(failure.reason, reason)
    await server.requests.at(-1)?.gone
  }
  server.fail({ kind: 'hang' })
  const caller = new AbortController()
  const pending = provider.completeChat?.(callOf({}), caller.signal)
  const asked = server.requests.length
  while (server.requests.length === asked) await new Promise((resolve) => setImmediate(resolve))
  caller.abort()
  const aborted = await pending
  assert.equal(aborted?.kind === 'failure' && aborted.reason, 'aborted')
  await server.requests.at(-1)?.gone
  server.fail(undefined)
  await impatient.close()
})

test('a body that cannot be written is refused before it is sent, and has no size', async () => {
  const call = callOf({})
  const broken = {
    ...call,
    native: { format: 'messages' as const, body: {}, flags: [], webSearches: 0 },
  }
  const outcome = await provider.completeChat?.(broken, new AbortController().signal)
  assert.equal(outcome?.kind === 'failure' && outcome.reason, 'unsupported')
  assert.equal(server.requests.length, 0)
  assert.equal(await provider.measureChat?.(broken), undefined)
})

test('vertex gets the same body at its own address, without flags that it does not know', async () => {
  const vertex = VERTEX_CLAUDE.open(server.url)
  for (const isStream of [false, true]) {
    const call = callOf(
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }] }] },
      { model: VERTEX_CLAUDE.model, isStream },
    )
    const flags = ['interleaved-thinking-2025-05-14', 'context-management-2025-06-27']
    await answerOf(
      { ...call, native: { format: 'messages', body: call.native!.body, flags, webSearches: 0 } },
      vertex,
    )
    const sent = server.requests.at(-1)
    assert.match(sent?.path ?? '', isStream ? /:streamRawPredict$/ : /:rawPredict$/)
    assert.equal(sent?.headers['anthropic-beta'], flags[0])
    assert.deepEqual(sent?.body, {
      anthropic_version: 'vertex-2023-10-16',
      max_tokens: 4_096,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }] }],
      ...(isStream ? { stream: true } : {}),
    })
  }
  await vertex.close()
})

test('the measured size is at least that of the body that is sent, without the data of images', async () => {
  await fc.assert(
    fc.asyncProperty(conversation, async ({ system, messages }) => {
      const call = callOf({ system, messages, max_tokens: 64_000, metadata: { user_id: 'u' } })
      const measured = (await provider.measureChat?.(call)) ?? NaN
      await answerOf({ ...call, outputTokensMax: 100 })
      const text = JSON.stringify(server.requests.at(-1)?.body).replaceAll(PNG_BASE64, '')
      assert.ok(measured >= Buffer.byteLength(text))
      assert.ok(measured < Buffer.byteLength(text) + 400)
    }),
    { numRuns: 50 },
  )
})

function fixtureOf(name: string): Promise<string> {
  return readFile(join(import.meta.dirname, './fixtures', 'anthropic', name), 'utf8')
}

test('a tool that the provider describes is sent with its flag, and bounded; without it, as a function', async () => {
  const size = { display_width_px: 800, display_height_px: 600 }
  const tools = [
    { type: 'bash_20250124', name: 'bash' },
    { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool', max_characters: 9 },
    { type: 'memory_20250818', name: 'memory' },
    { type: 'computer_20251124', name: 'computer', ...size, enable_zoom: true },
  ]
  const flags = ['context-management-2025-06-27', 'computer-use-2025-11-24']
  const withFlags = (given: string[]): Promise<any> => {
    const call = callOf({ tools })
    return sentFor({ tools }, { native: { ...(call.native as any), flags: given } })
  }
  assert.deepEqual((await withFlags(flags)).tools, tools)
  const functions = (sent: any): unknown[] =>
    sent.tools.map(({ type, input_schema: schema }: JsonObject) => type ?? (schema as any).type)
  const [bash, editor] = tools.map(({ type }) => type)
  assert.deepEqual(functions(await withFlags([])), [bash, editor, 'object', 'object'])
  const vertex = VERTEX_CLAUDE.open(server.url)
  const call = callOf({ tools, model: VERTEX_CLAUDE.model })
  server.requests.length = 0
  await answerOf({ ...call, model: VERTEX_CLAUDE.model }, vertex)
  await vertex.close()
  const sent = server.requests.find(({ path }) => path.includes('anthropic'))?.body
  assert.deepEqual(functions(sent), Array(4).fill('object'))

  const bytesOf = async (list: unknown[]): Promise<number> => {
    const one = callOf({ tools: list })
    return Number(
      await provider.measureChat?.({ ...one, native: { ...(one.native as any), flags } }),
    )
  }
  const own = JSON.stringify(tools).length
  assert.ok((await bytesOf(tools)) >= (await bytesOf([])) + own + 4 * 1_300)
})
