// deep: generated reports
/**
 * The usage that each kind of provider reports, down to the priced units: each token is in one bucket, the buckets add up
 * to what the provider bills, and no report makes a bucket negative.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { readPrices } from '../../src/money/catalog/read-prices.ts'
import { sandboxModels } from '../../src/money/catalog/sandbox-catalog.ts'
import { costOf } from '../../src/money/catalog/prices.ts'
import type { Model } from '../../src/money/catalog/model.ts'
import { billedUsage } from '../../src/gateway/calls/billed-usage.ts'
import { isObject } from '../../src/platform/lib/is-object.ts'
import type {
  ChatCall,
  JsonObject,
  NativeChat,
  Provider,
  ReportedUsage,
} from '../../src/gateway/providers/contract.ts'
import { createOpenAiCompatible } from '../../src/gateway/providers/openai-compatible/create-openai-compatible.ts'
import { effort } from '../harness/effort.ts'
import fc from '../harness/fast-check.ts'
import { answerJson, startScriptedServer, type ScriptedServer } from './scripted-server.ts'
import { ask, BEDROCK, COHERE, contentOf, GOOGLE, openAiSdk } from './test-provider.ts'

/** Tokens that overlap in nothing, and the searches. */
interface Buckets {
  readonly fresh: number
  readonly cached: number
  readonly write5m: number
  readonly write1h: number
  readonly audio: number
  readonly text: number
  readonly reasoning: number
  readonly searches: number
}
type Bucket = keyof Buckets

/** In USD for a million tokens; a search in USD. */
const USD = {
  input: 1,
  cached_input: 0.5,
  cache_write: 1.25,
  cache_write_1h: 2,
  input_audio: 3,
  output: 4,
  reasoning: 7,
  web_search: 0.01,
}
const faults: string[] = []
const PRICE = readPrices('own', 'llm', USD, faults)
const MODEL = sandboxModels.find(({ id }) => id === 'sandbox-chat') as Model
const SEARCHES_MAX = 5

/** What the provider bills, in pico-USD. */
function billOf(used: Buckets): bigint {
  const perToken: Record<Exclude<Bucket, 'searches'>, number> = {
    fresh: USD.input,
    cached: USD.cached_input,
    write5m: USD.cache_write,
    write1h: USD.cache_write_1h,
    audio: USD.input_audio,
    text: USD.output,
    reasoning: USD.reasoning,
  }
  const tokens = Object.entries(perToken).reduce(
    (sum, [bucket, usd]) => sum + BigInt(used[bucket as Bucket]) * BigInt(usd * 1_000_000),
    0n,
  )
  return tokens + BigInt(used.searches) * 10_000_000_000n
}

interface Kind {
  /** The buckets that this report can tell apart; the others are empty. */
  readonly separates: readonly Bucket[]
  readonly model: string
  readonly native?: NativeChat['format']
  open(url: string): Provider
  usage(used: Buckets): JsonObject
  answer(usage: JsonObject, used: Buckets): JsonObject
}

const promptOf = ({ fresh, cached, write5m, write1h, audio }: Buckets): number =>
  fresh + cached + write5m + write1h + audio
const outputOf = ({ text, reasoning }: Buckets): number => text + reasoning

const LIMITS = {
  apiKey: 'a-key',
  cancelStopsBilling: true,
  connectTimeoutMs: 2_000,
  firstByteTimeoutMs: 2_000,
  idleTimeoutMs: 2_000,
  connectionsMax: 2,
}

function openChat(url: string, speaksResponses = false): Provider {
  return createOpenAiCompatible({
    ...LIMITS,
    baseUrl: `${url}/v1`,
    maxTokensField: 'max_completion_tokens',
    speaksResponses,
  })
}

function chatAnswer(usage: JsonObject): JsonObject {
  const message = { role: 'assistant', content: 'oi' }
  return { choices: [{ index: 0, message, finish_reason: 'stop' }], usage }
}

const chat: Omit<Kind, 'separates' | 'usage'> = {
  model: 'gpt-5-mini',
  open: (url) => openChat(url),
  answer: chatAnswer,
}

const message: Omit<Kind, 'separates'> = {
  model: 'claude-sonnet-4-5',
  open: (url) => openAiSdk('anthropic', { ...LIMITS, baseUrl: `${url}/v1` }),
  usage: (used) => ({
    input_tokens: used.fresh,
    cache_read_input_tokens: used.cached,
    cache_creation_input_tokens: used.write5m + used.write1h,
    cache_creation: {
      ephemeral_5m_input_tokens: used.write5m,
      ephemeral_1h_input_tokens: used.write1h,
    },
    output_tokens: outputOf(used),
    output_tokens_details: { thinking_tokens: used.reasoning },
    server_tool_use: { web_search_requests: used.searches },
  }),
  answer: (usage) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content: [{ type: 'text', text: 'oi' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage,
  }),
}

const KINDS: Record<string, Kind> = {
  'chat completions': {
    ...chat,
    separates: ['fresh', 'cached', 'write5m', 'text', 'reasoning'],
    usage: (used) => ({
      prompt_tokens: promptOf(used),
      completion_tokens: outputOf(used),
      total_tokens: promptOf(used) + outputOf(used),
      prompt_tokens_details: { cached_tokens: used.cached, cache_write_tokens: used.write5m },
      completion_tokens_details: { reasoning_tokens: used.reasoning },
    }),
  },
  'chat completions with counts of hits and misses': {
    ...chat,
    separates: ['fresh', 'cached', 'text', 'reasoning'],
    usage: (used) => ({
      prompt_tokens: promptOf(used),
      prompt_cache_hit_tokens: used.cached,
      prompt_cache_miss_tokens: used.fresh,
      completion_tokens: outputOf(used),
      completion_tokens_details: { reasoning_tokens: used.reasoning },
    }),
  },
  'chat completions whose output leaves reasoning out': {
    ...chat,
    separates: ['fresh', 'cached', 'text', 'reasoning'],
    usage: (used) => ({
      prompt_tokens: promptOf(used),
      completion_tokens: used.text,
      total_tokens: promptOf(used) + outputOf(used),
      prompt_tokens_details: { cached_tokens: used.cached },
      completion_tokens_details: { reasoning_tokens: used.reasoning },
    }),
  },
  responses: {
    separates: ['fresh', 'cached', 'write5m', 'text', 'reasoning', 'searches'],
    model: 'gpt-5-mini',
    native: 'responses',
    open: (url) => openChat(url, true),
    usage: (used) => ({
      input_tokens: promptOf(used),
      input_tokens_details: { cached_tokens: used.cached, cache_write_tokens: used.write5m },
      output_tokens: outputOf(used),
      output_tokens_details: { reasoning_tokens: used.reasoning },
      total_tokens: promptOf(used) + outputOf(used),
    }),
    answer: (usage, { searches }) => ({
      id: 'resp_1',
      status: 'completed',
      output: [
        ...Array.from({ length: searches }, (_, at) => ({
          type: 'web_search_call',
          id: `ws_${at}`,
          status: 'completed',
          action: { type: 'search', query: 'a' },
        })),
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'oi', annotations: [] }],
        },
      ],
      usage,
    }),
  },
  messages: {
    ...message,
    separates: ['fresh', 'cached', 'write5m', 'write1h', 'text', 'reasoning', 'searches'],
    native: 'messages',
  },
  'messages, translated': {
    ...message,
    separates: ['fresh', 'cached', 'write5m', 'write1h', 'text', 'reasoning'],
  },
  google: {
    separates: ['fresh', 'cached', 'audio', 'text', 'reasoning'],
    model: GOOGLE.model,
    open: (url) => GOOGLE.open(url),
    usage: (used) => ({
      promptTokenCount: promptOf(used),
      cachedContentTokenCount: used.cached,
      candidatesTokenCount: used.text,
      thoughtsTokenCount: used.reasoning,
      totalTokenCount: promptOf(used) + outputOf(used),
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: promptOf(used) - used.audio },
        { modality: 'AUDIO', tokenCount: used.audio },
      ],
    }),
    answer: (usage) => ({
      candidates: [
        { content: { role: 'model', parts: [{ text: 'oi' }] }, index: 0, finishReason: 'STOP' },
      ],
      usageMetadata: usage,
    }),
  },
  'amazon-bedrock': {
    // Reasoning is within the output, at the same price there.
    separates: ['fresh', 'cached', 'write5m', 'write1h', 'text'],
    model: BEDROCK.model,
    open: (url) => BEDROCK.open(url),
    usage: (used) => ({
      inputTokens: used.fresh,
      outputTokens: outputOf(used),
      totalTokens: promptOf(used) + outputOf(used),
      cacheReadInputTokens: used.cached,
      cacheWriteInputTokens: used.write5m + used.write1h,
      cacheDetails: [
        { ttl: '5m', inputTokens: used.write5m },
        { ttl: '1h', inputTokens: used.write1h },
      ],
    }),
    answer: (usage) => ({
      output: { message: { role: 'assistant', content: [{ text: 'oi' }] } },
      stopReason: 'end_turn',
      usage,
      metrics: { latencyMs: 1 },
    }),
  },
  cohere: {
    separates: ['fresh', 'cached', 'text'],
    model: COHERE.model,
    open: (url) => COHERE.open(url),
    usage: (used) => ({
      billed_units: { input_tokens: promptOf(used), output_tokens: outputOf(used) },
      tokens: { input_tokens: promptOf(used) + 40, output_tokens: outputOf(used) + 5 },
      cached_tokens: used.cached,
    }),
    answer: (usage) => ({
      id: 'c',
      message: { role: 'assistant', content: [{ type: 'text', text: 'oi' }] },
      finish_reason: 'COMPLETE',
      usage,
    }),
  },
}

let played: JsonObject = {}
let server: ScriptedServer
before(async () => {
  server = await startScriptedServer((_received, response) => answerJson(response, 200, played))
})
after(() => server.close())

const count = fc.nat({ max: 100_000 })
const buckets: fc.Arbitrary<Buckets> = fc.record({
  // No call is without a prompt and an output.
  fresh: count.map((one) => one + 1),
  cached: count,
  write5m: count,
  write1h: count,
  audio: count,
  text: count.map((one) => one + 1),
  reasoning: count,
  searches: fc.nat({ max: SEARCHES_MAX }),
})

function separated(used: Buckets, separates: readonly Bucket[]): Buckets {
  const entries = Object.entries(used).map(([bucket, tokens]) => [
    bucket,
    separates.includes(bucket as Bucket) ? (tokens as number) : 0,
  ])
  return Object.fromEntries(entries) as Buckets
}

function callOf({ model, native, separates }: Kind): ChatCall {
  const body = ask({ model }, { max_tokens: 100 })
  const item = { role: 'user', content: 'oi' }
  const nativeBody =
    native === 'messages'
      ? { model, max_tokens: 100, messages: [item], tools: [SEARCH_OF_MESSAGES] }
      : { model, input: [item], tools: [{ type: 'web_search' }] }
  return {
    ...contentOf(body),
    callId: 'call-1',
    hasCacheControl: true,
    cachesForAnHour: separates.includes('write1h'),
    hasAudio: separates.includes('audio'),
    webSearchesMax: separates.includes('searches') ? SEARCHES_MAX : 0,
    native: native && { format: native, body: nativeBody, flags: [], webSearches: SEARCHES_MAX },
  }
}

const SEARCH_OF_MESSAGES = { type: 'web_search_20250305', name: 'web_search' }

async function reportedOf(
  provider: Provider,
  kind: Kind,
  answer: JsonObject,
): Promise<ReportedUsage | undefined> {
  played = answer
  const answered = await provider.completeChat?.(callOf(kind), new AbortController().signal)
  return answered?.kind === 'answer' ? answered.usage : undefined
}

/** Values that no count has. */
const hostile = fc.oneof(
  fc.integer({ min: -5, max: 200_000 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(999_999_999, 1_000_000_000, 1_000_000_001, 2 ** 53, 1e300, -1, 0.5, -0),
  fc.constantFrom<unknown>('7', '', null, true, [], {}, [1], { a: 1 }),
)

/** The report with some of its counts replaced, in the order of `values`; `gone` ones are left out. */
function spoilt(usage: JsonObject, values: readonly { value: unknown; how: number }[]): JsonObject {
  let turn = 0
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit)
    if (isObject(value)) return Object.fromEntries(Object.entries(value).flatMap(visitEntry))
    return value
  }
  const visitEntry = ([name, value]: [string, unknown]): [string, unknown][] => {
    const { how, value: other } = values[turn++ % values.length] as (typeof values)[number]
    if (how === 0) return []
    return [[name, how === 1 && typeof value !== 'string' ? other : visit(value)]]
  }
  return visit(usage) as JsonObject
}

test('the prices of this test are valid', () => assert.deepEqual(faults, []))

for (const [name, kind] of Object.entries(KINDS)) {
  test(`${name}: the priced buckets are disjoint and add up to the provider's bill`, async () => {
    const provider = kind.open(server.url)
    await fc.assert(
      fc.asyncProperty(buckets, async (made) => {
        const used = separated(made, kind.separates)
        const reported = await reportedOf(provider, kind, kind.answer(kind.usage(used), used))
        assert.ok(reported)
        const billed = billedUsage(MODEL, PRICE, reported)
        assert.equal(costOf(PRICE, billed), billOf(used))
        assert.equal(billed.promptTokens + (billed.units?.input_audio_tokens ?? 0), promptOf(used))
        assert.equal(billed.completionTokens, outputOf(used))
      }),
      { numRuns: effort({ ordinary: 15, full: 1_000 }) },
    )
    await provider.close()
  })

  test(`${name}: no report makes a bucket negative, or larger than what it is a part of`, async () => {
    const provider = kind.open(server.url)
    const values = fc.array(fc.record({ value: hostile, how: fc.nat({ max: 4 }) }), {
      minLength: 1,
      maxLength: 12,
    })
    await fc.assert(
      fc.asyncProperty(buckets, values, async (made, values) => {
        const used = separated(made, kind.separates)
        const usage = spoilt(kind.usage(used), values)
        const reported = await reportedOf(provider, kind, kind.answer(usage, used))
        if (!reported) return
        // Also as the adapter hands it on: what bills it must not have to mend it.
        assert.ok(reported.cachedTokens + reported.cacheWriteTokens <= reported.promptTokens)
        assert.ok((reported.hourCacheWriteTokens ?? 0) <= reported.cacheWriteTokens)
        assert.ok(reported.reasoningTokens <= reported.completionTokens)
        const billed = billedUsage(MODEL, PRICE, reported)
        const { units = {}, ...tokens } = billed
        const all = [...Object.values(tokens), ...Object.values(units)]
        for (const each of all) assert.ok(Number.isSafeInteger(each) && each >= 0, String(each))
        assert.ok(billed.cachedTokens + billed.cacheWriteTokens <= billed.promptTokens)
        assert.ok((units.cache_write_1h_tokens ?? 0) <= billed.cacheWriteTokens)
        assert.ok(billed.reasoningTokens <= billed.completionTokens)
        // The gateway does not bill a report without tokens of the prompt: it estimates the answer.
        if (reported.promptTokens > 0) assert.ok(billed.promptTokens + billed.completionTokens > 0)
      }),
      { numRuns: effort({ ordinary: 150, full: 4_000 }) },
    )
    await provider.close()
  })
}
