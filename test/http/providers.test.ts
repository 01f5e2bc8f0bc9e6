// deep: every provider in every format
/**
 * The weather conversation through the whole gateway, in the format of each provider: customers see no
 * difference but the price, and that one is right to the last digit.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { CatalogConfig } from '../../src/money/catalog/catalog-config-schema.ts'
import type { JsonObject, ReportedTokens } from '../../src/gateway/providers/contract.ts'
import { parseBrl, parseUsd } from '../../src/platform/lib/money.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { startFixtureServer, type FixtureServer } from '../providers/fixture-server.ts'
import {
  markForCache,
  assembleChunks,
  contentAndCallsOf,
  turnOf,
  WEATHER_CALLS,
  WEATHER_TEXT,
  WEATHER_THINKING,
  weatherRequest,
  weatherUsage,
  withToolResults,
  type Turn,
} from '../providers/weather-conversation.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { exactBilledBrl, exactCostUsd, sumOf, type TokenPricesUsd } from './exact-charge.ts'
import { ask, askChat, billedIn, eventsOf, type Asked } from '../harness/ask.ts'
import { assertHeaders } from '../harness/assert-answer.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { resolutionsOf } from './resolutions-of.ts'

interface GatewayProvider {
  readonly name: string
  readonly kind: string
  /** Of its address at the fixture server. */
  readonly path: string
  readonly model: string
  /** Tokens that the second turn writes to a cache. */
  readonly cacheWriteTokens?: number
  /** It counts its reasoning as output like any other. */
  readonly hidesReasoning?: true
  /** What the first turn gave that must go back with the second one. */
  readonly goesBack?: readonly string[]
  /** What else its entry in the configuration needs. */
  readonly more?: Partial<NonNullable<CatalogConfig['upstreams']>[number]>
}

const GATEWAY_PROVIDERS: readonly GatewayProvider[] = [
  { name: 'openai', kind: 'openai-compatible', path: '/openai/v1', model: 'gpt-5-mini' },
  {
    name: 'anthropic',
    kind: 'anthropic',
    path: '/anthropic/v1',
    model: 'claude-sonnet-4-5',
    cacheWriteTokens: 120,
    goesBack: ['EqQBCkYIBxgCKkBsbPc2H4mSi', 'EmwKAhgBEgyZ3vPoSRYaJ5'],
  },
  {
    name: 'google',
    kind: 'google',
    path: '/google/v1beta',
    model: 'gemini-3-pro-preview',
    goesBack: ['CiQB0e2Kb3VyIHRob3VnaHRz'],
  },
  {
    name: 'google-vertex',
    kind: 'google-vertex',
    path: '/vertex/v1/projects/own/locations/us-central1/publishers/google',
    model: 'gemini-2.5-pro',
    goesBack: ['CiQB0e2Kb3VyIHRob3VnaHRz'],
    more: { project: 'own', location: 'us-central1' },
  },
  {
    name: 'amazon-bedrock',
    kind: 'amazon-bedrock',
    path: '/bedrock',
    model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    cacheWriteTokens: 120,
    hidesReasoning: true,
    more: { region: 'us-east-1' },
  },
  {
    name: 'cohere',
    kind: 'cohere',
    path: '/cohere/v2',
    model: 'command-a-reasoning-08-2025',
    hidesReasoning: true,
  },
]

/** Each kind of token with a different price, with the most digits that a price may have. */
const PRICES: TokenPricesUsd = {
  input: '1.234567',
  cached_input: '0.123457',
  cache_write: '1.543211',
  output: '9.876543',
  reasoning: '13.579137',
}
const CONVERSION = { fxRate: '5.4321', markup: '1.3579' }
const BALANCE_BRL = '25'

const modelIdOf = ({ name }: GatewayProvider): string =>
  `tempo-${GATEWAY_PROVIDERS.findIndex((target) => target.name === name)}`
const keyVariableOf = ({ name }: GatewayProvider): string =>
  `TEST_${name.toUpperCase().replaceAll('-', '_')}_KEY`
const keyOf = ({ name }: GatewayProvider): string => `key-of-${name}`

function usageOf(target: GatewayProvider): ReturnType<typeof weatherUsage> {
  return weatherUsage(target.cacheWriteTokens ?? 0, !target.hidesReasoning)
}

let server: FixtureServer
let file: ConfigFile
let gateway: TestGateway

before(async () => {
  server = await startFixtureServer()
  file = await writeConfigFile({
    upstreams: GATEWAY_PROVIDERS.map((target) => ({
      id: `upstream-${target.name}`,
      kind: target.kind,
      base_url: server.url + target.path,
      api_key_env: keyVariableOf(target),
      ...target.more,
    })),
    models: GATEWAY_PROVIDERS.map((target) => ({
      id: modelIdOf(target),
      category: 'llm' as const,
      vendor: 'tempo',
      prices: { ...PRICES },
      markup_multiplier: CONVERSION.markup,
      context_tokens: 128_000,
      max_output_tokens: 8_192,
      image_tokens_max: 2_000,
      routes: [{ upstream: `upstream-${target.name}`, model: target.model }],
    })),
  })
  gateway = await startGateway({
    CATRACA_CONFIG: file.path,
    SANDBOX_FX_RATE: CONVERSION.fxRate,
    ...Object.fromEntries(
      GATEWAY_PROVIDERS.map((target) => [keyVariableOf(target), keyOf(target)]),
    ),
  })
})

after(async () => {
  await gateway.stop()
  await server.close()
  await file.remove()
})

interface AnsweredTurn {
  readonly turn: Turn
  readonly answer: Asked
  /** Where the usage and the cost are: the answer, or the last chunk of a stream. */
  readonly last: JsonObject
  /** The cost as it is written there. */
  readonly billedBrl: string | undefined
}

async function say(secret: string, body: JsonObject, isStream: boolean): Promise<AnsweredTurn> {
  const stream = { stream: true, stream_options: { include_usage: true } }
  const answer = await askChat(
    gateway.node.baseUrl,
    secret,
    isStream ? { ...body, ...stream } : body,
  )
  assert.equal(answer.status, 200, answer.text)
  assertHeaders(answer, answer.requestId)
  if (!isStream) {
    assertPublicAnswer(answer.json, String(body.model))
    return {
      turn: turnOf(answer.json),
      answer,
      last: answer.json,
      billedBrl: billedIn(answer.text),
    }
  }
  const events = eventsOf(answer.text)
  assert.equal(events.at(-1), '[DONE]')
  const chunks = events.slice(0, -1).map((event): JsonObject => JSON.parse(event))
  assertPublicChunks(chunks, String(body.model))
  return {
    turn: assembleChunks(chunks.slice(0, -1)),
    answer,
    last: chunks.at(-1) as JsonObject,
    billedBrl: billedIn(events.at(-2) as string),
  }
}

const ID = /^chatcmpl-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const TOOL_CALL_FIELDS = ['id', 'type', 'function', 'extra_content']
const MESSAGE_FIELDS = ['role', 'content', 'refusal', 'tool_calls']
const THINKING_FIELDS = ['reasoning_content', 'reasoning_details', 'extra_content']

/** Fields that the format knows, and no other. */
function assertFields(value: unknown, known: readonly string[], what: string): void {
  const odd = Object.keys(value as object).filter((field) => !known.includes(field))
  assert.deepEqual(odd, [], `fields of ${what} that are not the format's`)
}

function assertHead({ id, created, model }: JsonObject, modelId: string): void {
  assert.match(String(id), ID)
  assert.equal(model, modelId)
  assert.ok(Math.abs(Number(created) - Date.now() / 1000) < 60, 'it was created now')
}

function assertMessage(message: JsonObject, more: readonly string[] = []): void {
  assertFields(message, [...MESSAGE_FIELDS, ...THINKING_FIELDS], 'a message')
  for (const call of (message.tool_calls ?? []) as JsonObject[]) {
    assertFields(call, [...TOOL_CALL_FIELDS, ...more], 'a tool call')
    if (call.function) assertFields(call.function, ['name', 'arguments'], 'a function')
  }
}

function assertPublicAnswer(body: JsonObject, modelId: string): void {
  assert.deepEqual(
    Object.keys(body),
    ['id', 'object', 'created', 'model', 'choices', 'usage', 'cost_billed_brl'],
    'an answer has the fields of the format',
  )
  assert.equal(body.object, 'chat.completion')
  assertHead(body, modelId)
  const [choice, ...others] = body.choices as JsonObject[]
  assert.deepEqual(others, [])
  assert.ok(choice)
  assertFields(choice, ['index', 'message', 'finish_reason'], 'a choice')
  const message = choice.message as JsonObject
  assert.equal(message.role, 'assistant')
  assertMessage(message)
}

function assertPublicChunks(chunks: readonly JsonObject[], modelId: string): void {
  for (const [place, chunk] of chunks.entries()) {
    const isLast = place === chunks.length - 1
    const more = isLast ? ['usage', 'cost_billed_brl'] : []
    assert.deepEqual(Object.keys(chunk), ['id', 'object', 'created', 'model', 'choices', ...more])
    assert.equal(chunk.object, 'chat.completion.chunk')
    assert.equal(chunk.id, chunks[0]?.id)
    assertHead(chunk, modelId)
    const choices = chunk.choices as JsonObject[]
    assert.equal(choices.length, isLast ? 0 : 1)
    for (const choice of choices) {
      assertFields(choice, ['index', 'delta', 'finish_reason'], 'a choice')
      assertMessage(choice.delta as JsonObject, ['index'])
    }
  }
}

/** Names of makers, of fixtures and of the configuration, and fields of their formats. */
const TRACES =
  /openai|gpt-|anthropic|claude|gemini|vertex|amazon|bedrock|cohere|upstream-|key-of|127\.0\.0\.1|msg_0|resp-|chatcmpl-\d"|service_tier|modelVersion|responseId|candidates|stop_reason|usageMetadata|system_fingerprint|safety/i

/**
 * A tool call goes back as it came, so its id is the maker's, and a signature is where Google's own
 * endpoint of this format has it and clients know to keep it.
 */
function withoutWhatGoesBack(text: string): string {
  return text.replaceAll(/"extra_content":\{"google":\{"thought_signature":"[^"]*"\}\}/g, '')
}

function assertNoProvider({ text, headers }: Asked): void {
  const shown = withoutWhatGoesBack(text)
  assert.doesNotMatch(shown, TRACES)
  assert.doesNotMatch(shown, /google/i)
  for (const [name, value] of headers) assert.doesNotMatch(`${name}: ${value}`, TRACES)
}

function publicUsageOf(tokens: ReportedTokens): unknown {
  return {
    prompt_tokens: tokens.promptTokens,
    completion_tokens: tokens.completionTokens,
    total_tokens: tokens.promptTokens + tokens.completionTokens,
    prompt_tokens_details: { cached_tokens: tokens.cachedTokens },
    completion_tokens_details: { reasoning_tokens: tokens.reasoningTokens },
  }
}

/** Numbers as they are written: as doubles they could lose digits, or gain some. */
function parseExact(text: string): any {
  const keep = (_name: string, value: unknown, { source }: { source?: string }): unknown =>
    typeof value === 'number' ? source : value
  return JSON.parse(text, keep as (this: unknown, name: string, value: unknown) => unknown)
}

/** The charge in the answer, in the database and in /usage is what the prices of the file come to. */
async function assertCharge(
  target: GatewayProvider,
  { answer, last, billedBrl }: AnsweredTurn,
  tokens: ReportedTokens,
  secret: string,
): Promise<string> {
  const expected = exactBilledBrl(PRICES, tokens, CONVERSION)
  assert.deepEqual(last.usage, publicUsageOf(tokens))
  assert.equal(billedBrl, expected)

  const [event, ...others] = await resolutionsOf(gateway.database, answer.requestId)
  assert.deepEqual(others, [])
  assert.ok(event)
  const costUsd = exactCostUsd(PRICES, tokens)
  assert.deepEqual(
    {
      outcome: event.outcome,
      usage_kind: event.usage_kind,
      reason: event.reason,
      upstream_id: event.upstream_id,
      attempts: event.attempts,
      tokens: {
        promptTokens: event.prompt_tokens,
        cachedTokens: event.cached_tokens,
        cacheWriteTokens: event.cache_write_tokens,
        completionTokens: event.completion_tokens,
        reasoningTokens: event.reasoning_tokens,
      },
      billed: event.cost_billed_nano_brl,
      cost: event.cost_upstream_pico_usd,
    },
    {
      outcome: 'charged',
      usage_kind: 'exact',
      reason: null,
      upstream_id: `upstream-${target.name}`,
      attempts: null,
      tokens,
      billed: parseBrl(expected),
      cost: parseUsd(costUsd),
    },
  )

  const usage = await ask(gateway.node.baseUrl, '/usage', { secret })
  const shown = parseExact(usage.text).usage_events.find(
    (each: JsonObject) => each.request_id === answer.requestId,
  )
  assert.equal(shown.cost_billed_brl, expected)
  assert.equal(shown.cost_upstream_usd, costUsd)
  assert.equal(shown.fx_rate, CONVERSION.fxRate)
  assert.equal(shown.markup_multiplier, CONVERSION.markup)
  assert.equal(shown.model_id, modelIdOf(target))
  return expected
}

test('the expected prices of these tests equal hand-computed ones', () => {
  const tokens = { promptTokens: 3, cachedTokens: 1, cacheWriteTokens: 1 }
  const prices = { input: '1', cached_input: '0.5', cache_write: '2', output: '3', reasoning: '7' }
  const conversion = { fxRate: '5.2', markup: '1.25' }
  const all = { ...tokens, completionTokens: 2, reasoningTokens: 1 }
  // (1 + 0.5 + 2 + 3 + 7) / 10^6 = 0.0000135; times 6.5 it is 0.00008775.
  assert.equal(exactCostUsd(prices, all), '0.0000135')
  assert.equal(exactBilledBrl(prices, all, conversion), '0.00008775')
  // 0.000001 x 0.0005 = 0.0000000005: half of the last digit goes up.
  const single = { ...all, promptTokens: 1, cachedTokens: 0, cacheWriteTokens: 0 }
  const none = { ...single, completionTokens: 0, reasoningTokens: 0 }
  assert.equal(exactBilledBrl(prices, none, { fxRate: '0.0005', markup: '1' }), '0.000000001')
  assert.equal(exactBilledBrl(prices, none, { fxRate: '0.0004', markup: '1' }), '0')
  assert.equal(sumOf('1.5', '0.25', '10'), '11.75')
})

for (const target of GATEWAY_PROVIDERS) {
  for (const isStream of [false, true]) {
    const manner = isStream ? 'streamed' : 'plain'

    test(`${target.name}, ${manner}: the conversation, its usage and its price to the last digit`, async () => {
      const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: BALANCE_BRL })
      const requestsBefore = server.requests.length
      const request = weatherRequest(modelIdOf(target))
      if (target.cacheWriteTokens !== undefined) markForCache(request)
      const first = await say(secret, request, isStream)
      assert.deepEqual(contentAndCallsOf(first.turn), {
        text: null,
        thinking: WEATHER_THINKING,
        calls: WEATHER_CALLS,
        finishReason: 'tool_calls',
      })
      const second = await say(secret, withToolResults(request, first.turn.message), isStream)
      assert.deepEqual(contentAndCallsOf(second.turn), {
        text: WEATHER_TEXT,
        thinking: null,
        calls: [],
        finishReason: 'stop',
      })
      for (const { answer } of [first, second]) assertNoProvider(answer)

      const [used, usedThen] = usageOf(target)
      const billed = [
        await assertCharge(target, first, used, secret),
        await assertCharge(target, second, usedThen, secret),
      ]
      const { balance } = parseExact((await ask(gateway.node.baseUrl, '/usage', { secret })).text)
      assert.equal(balance.total_spent_brl, sumOf(...billed))
      assert.equal(sumOf(balance.balance_brl, ...billed), BALANCE_BRL)

      const sent = server.requests.slice(requestsBefore)
      assert.equal(sent.length, 2)
      for (const { path, headers } of sent) {
        assert.ok(path.startsWith(target.path), path)
        assert.ok(JSON.stringify(headers).includes(keyOf(target)), 'the key of the environment')
        assert.ok(!JSON.stringify(headers).includes(secret), "the customer's key stays here")
      }
      const again = JSON.stringify(sent[1]?.body)
      for (const text of target.goesBack ?? []) assert.ok(again.includes(text), `${text} goes back`)
    })
  }
}

test('a stream whose client did not ask for usage is charged the same', async () => {
  for (const target of GATEWAY_PROVIDERS) {
    const body = { ...weatherRequest(modelIdOf(target)), stream: true }
    const answer = await askChat(gateway.node.baseUrl, gateway.secret, body)
    assert.equal(answer.status, 200, answer.text)
    assert.doesNotMatch(answer.text, /"usage"|cost_billed_brl/)
    const [event] = await resolutionsOf(gateway.database, answer.requestId)
    const expected = exactBilledBrl(PRICES, usageOf(target)[0], CONVERSION)
    assert.equal(event?.cost_billed_nano_brl, parseBrl(expected))
  }
})

/** The first turn in the format of each path. */
const CLIENT_FORMATS: Record<string, (model: string, stream: boolean) => JsonObject> = {
  '/chat/completions': (model, stream) => ({
    model,
    stream,
    messages: [{ role: 'user', content: 'Que tempo faz?' }],
  }),
  '/messages': (model, stream) => ({
    model,
    stream,
    max_tokens: 1_000,
    messages: [{ role: 'user', content: 'Que tempo faz?' }],
  }),
  '/responses': (model, stream) => ({ model, stream, input: 'Que tempo faz?' }),
}

for (const target of GATEWAY_PROVIDERS)
  for (const [path, body] of Object.entries(CLIENT_FORMATS))
    test(`complaints 1 and 7: ${path} over ${target.name}: plain and streamed cost the same, the upstream's count`, async () => {
      const [used] = usageOf(target)
      for (const isStream of [false, true]) {
        const answer = await ask(gateway.node.baseUrl, path, {
          secret: gateway.secret,
          body: body(modelIdOf(target), isStream),
        })
        assert.equal(answer.status, 200, answer.text)
        const [event, ...others] = await resolutionsOf(gateway.database, answer.requestId)
        assert.deepEqual(others, [])
        assert.deepEqual(
          {
            promptTokens: event?.prompt_tokens,
            cachedTokens: event?.cached_tokens,
            cacheWriteTokens: event?.cache_write_tokens,
            completionTokens: event?.completion_tokens,
            reasoningTokens: event?.reasoning_tokens,
          },
          used,
        )
        const expected = exactBilledBrl(PRICES, used, CONVERSION)
        assert.equal(event?.cost_billed_nano_brl, parseBrl(expected))
      }
    })

test('after these tests nothing is held, and the audit passes', async () => {
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
})
