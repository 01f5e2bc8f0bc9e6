// deep: generated calls
/** What callers ask of routes, through the whole path of a call: with fakes for the ledger, the upstreams and the clock. */
import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { effort } from '../../../../test/harness/effort.ts'
import fc from '../../../../test/harness/fast-check.ts'
import type { ActiveKey } from '../../../customers/key-cache.ts'
import { createCatalog } from '../../../money/catalog/catalog.ts'
import { MODEL_CATEGORIES, ROUTING_STRATEGIES, type Model } from '../../../money/catalog/model.ts'
import { priceAt, type PriceSchedule } from '../../../money/catalog/price-schedule.ts'
import type { Price } from '../../../money/catalog/prices.ts'
import type { Attempt } from '../../../money/ledger/attempt.ts'
import type { Resolution } from '../../../money/ledger/resolution.ts'
import { createOwnTime } from '../../../platform/admission/own-time.ts'
import { createPace, createTally } from '../../../platform/admission/rate.ts'
import { createShare } from '../../../platform/admission/share.ts'
import type { ChatCall, Provider, UpstreamFailure } from '../../providers/contract.ts'
import { createChatCompletionsFormat } from '../chat/formats/chat-completions/chat-completions-format.ts'
import { createChatKind } from '../chat/chat-kind.ts'
import { createToolCallIds } from '../chat/tool-call-ids.ts'
import type { Client } from '../client.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import { createLimitsView } from '../limits.ts'
import { refusals, type Refusal } from '../refusal.ts'
import { createRunningCalls } from '../running-calls.ts'
import { createServeCall } from '../serve-call.ts'
import type { UpstreamTerms } from './choose-routes.ts'
import { createRouter } from './create-router.ts'

const START_MS = Date.UTC(2026, 10, 28, 12)
const CALL_TIMEOUT_MS = 60_000
const UPSTREAMS = ['u0', 'u1', 'u2', 'u3', 'u4']
const NAMES = ['maker-a', 'maker-b', 'alias-0', 'alias-1']
const MARKUPS = [10_000n, 12_500n, 13_333n]

let priceIds = 0
/** Small numbers, so that prices and limits meet. */
const anyPrice = fc
  .record({
    input: fc.integer({ min: 1, max: 9 }),
    output: fc.integer({ min: 1, max: 9 }),
    higher: fc.integer({ min: 0, max: 3 }),
    isTiered: fc.boolean(),
  })
  .map(({ input, output, higher, isTiered }): Price => {
    const tier = (above: number, more: number) => ({
      abovePromptTokens: above,
      input: BigInt(input + more) * 100_000n,
      cachedInput: BigInt(input + more) * 50_000n,
      cacheWrite: BigInt(input + more) * 100_000n,
      output: BigInt(output + more) * 100_000n,
      reasoning: BigInt(output + more) * 100_000n,
    })
    return { id: ++priceIds, tiers: [tier(0, 0), ...(isTiered ? [tier(5, higher)] : [])] }
  })

/** Prices that begin around the call, also while it runs and after it should have ended. */
const anySchedule = fc
  .tuple(
    anyPrice,
    fc.array(fc.tuple(fc.integer({ min: -60, max: 400 }), anyPrice), { maxLength: 2 }),
  )
  .map(([price, later]): PriceSchedule<Price> => [
    { price },
    ...later
      .toSorted(([left], [right]) => left - right)
      .map(([seconds, each]) => ({ startsAt: new Date(START_MS + seconds * 1_000), price: each })),
  ])

const anyRoute = fc
  .record({
    upstreamId: fc.constantFrom(...UPSTREAMS),
    schedule: anySchedule,
    priority: fc.integer({ min: 0, max: 2 }),
  })
  .map(({ upstreamId, schedule, priority }) => ({
    upstreamId,
    upstreamModel: 'x',
    price: priceAt(schedule, START_MS),
    ...(schedule.length > 1 ? { priceSchedule: schedule } : {}),
    priority,
    weight: 1,
    concurrencyMax: Infinity,
  }))

const anyModels = fc.tuple(
  ...['m0', 'm1'].map((id) =>
    fc
      .record({
        routes: fc.array(anyRoute, { minLength: 1, maxLength: 5 }),
        vendor: fc.constantFrom('maker-a', 'Maker-B'),
        markupE4: fc.constantFrom(...MARKUPS),
        strategy: fc.constantFrom(...ROUTING_STRATEGIES),
      })
      .map(({ routes, ...rest }): Model => ({
        id,
        displayName: id,
        category: MODEL_CATEGORIES[0],
        description: null,
        price: routes[0]?.price as Price,
        contextTokens: 10_000,
        outputTokensMax: 100,
        imageTokensMax: 0,
        supportsTools: false,
        routes,
        ...rest,
      })),
  ),
)

const anyNames = fc.option(fc.array(fc.constantFrom(...NAMES), { maxLength: 3 }), {
  nil: undefined,
})
/** In tenths of a US dollar, as the prices. */
const anyMax = fc.option(fc.integer({ min: 4, max: 11 }), { nil: undefined, freq: 2 })
const anyWish = fc.record({
  variant: fc.constantFrom('', ':floor', ':nitro'),
  hasFallback: fc.boolean(),
  order: anyNames,
  only: anyNames,
  ignore: anyNames,
  sort: fc.constantFrom(undefined, 'price', 'latency', 'throughput', { by: 'price' }),
  prompt: anyMax,
  completion: anyMax,
  allow_fallbacks: fc.constantFrom(undefined, true, false),
  data_collection: fc.constantFrom(undefined, undefined, 'allow', 'deny'),
})
type Asked = typeof anyWish extends fc.Arbitrary<infer Value> ? Value : never
const NO_NAMES = { order: undefined, only: undefined, ignore: undefined }
const anyAsked = fc.oneof(
  anyWish,
  anyWish.map((wish): Asked => ({ ...wish, ...NO_NAMES, data_collection: undefined })),
)

const anyTerms = fc.record({
  providerName: fc.constantFrom(undefined, 'alias-0', 'Alias-1'),
  collectsData: fc.constantFrom(undefined, true, false),
})
/** What the upstreams do, call by call, and how long each takes. */
const anyDeeds = fc.array(
  fc.record({
    fails: fc.option(fc.constantFrom('server_error', 'credentials_refused', 'refused_request'), {
      nil: undefined,
      freq: 2,
    }),
    seconds: fc.constantFrom(0, 1, 50, 200),
  }),
  { minLength: 1, maxLength: 8 },
)

/** How long a call waits before its hold. */
const anyWait = fc.constantFrom(0, 100)

function pass(seconds: number): void {
  mock.timers.setTime(Date.now() + seconds * 1_000)
}

interface Happened {
  readonly refused: Refusal[]
  readonly answers: string[]
  readonly called: string[]
  readonly holds: Attempt[]
  /** When the last call ended. */
  endedAtMs: number
  readonly resolutions: Resolution[]
}

const ids = createToolCallIds([Buffer.alloc(32, 1)])
const format = createChatCompletionsFormat(ids, () => refusals.invalidRequest('never'))
const lease = { nodeId: () => 'n', epoch: () => 1, isHeld: () => true, whenHeld: async () => true }

async function serve(
  models: readonly Model[],
  asked: Asked,
  terms: readonly UpstreamTerms[],
  deeds: readonly { fails: string | undefined; seconds: number }[],
  waits: number,
): Promise<Happened> {
  const happened: Happened = {
    refused: [],
    answers: [],
    called: [],
    holds: [],
    endedAtMs: 0,
    resolutions: [],
  }
  const provider = (id: string): Provider => ({
    cancelStopsBilling: false,
    close: async () => {},
    measureChat() {
      pass(waits)
      return 30
    },
    async completeChat({ body }: ChatCall) {
      for (const field of ['provider', 'models']) assert.ok(!(field in body), field)
      const deed = deeds[happened.called.length % deeds.length]
      happened.called.push(id)
      pass(deed?.seconds ?? 0)
      if (deed?.fails)
        return { kind: 'failure', reason: deed.fails, detail: 'on purpose' } as UpstreamFailure
      const counts = { cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 2 }
      const message = { role: 'assistant', content: 'a' }
      return {
        kind: 'answer',
        body: { choices: [{ index: 0, message, finish_reason: 'stop' }] },
        usage: { promptTokens: 20, completionTokens: 5, ...counts },
      }
    },
  })
  const { order, only, ignore, sort, prompt, completion, variant, hasFallback } = asked
  const usd = (tenths: number | undefined) => (tenths === undefined ? undefined : tenths / 10)
  const body = {
    model: `m0${variant}`,
    ...(hasFallback ? { models: ['m1'] } : {}),
    messages: [{ role: 'user', content: 'a' }],
    provider: {
      order,
      only,
      ignore,
      sort,
      max_price: { prompt: usd(prompt), completion: usd(completion) },
      allow_fallbacks: asked.allow_fallbacks,
      data_collection: asked.data_collection,
      require_parameters: true,
    },
  }
  const at = { at: new Date(), keySequence: 1, isDurable: true }
  const parts = {
    catalog: createCatalog(models),
    fxRate: { current: () => ({ id: 1, rateE4: 50_000n }) },
    ledger: {
      count: async () => ({ kind: 'counted', ...at }),
      hold: async (attempt: Attempt) => (happened.holds.push(attempt), { kind: 'held', ...at }),
      resolve: async (resolution: Resolution) => (
        happened.resolutions.push(resolution),
        { kind: 'committed' }
      ),
    },
    lease,
    deliveries: { note: () => {} },
    providers: new Map(UPSTREAMS.map((id) => [id, provider(id)])),
    router: createRouter(models),
    retriesOf: () => 0,
    termsOf: (id: string) => terms[UPSTREAMS.indexOf(id)],
    calls: createRunningCalls(),
    limits: createLimitsView(),
    slots: createShare({ ownMax: 9 }),
    bodies: createShare({ ownMax: 1e9 }),
    pace: createPace({ perSecond: 1e9, ownPerSecond: 1e9 }),
    unpaidWork: createTally({ max: 9, withinMs: 1_000 }),
    ownTime: createOwnTime(9),
    config: { requestsPerMinutePerIp: 1e6, callTimeoutMs: CALL_TIMEOUT_MS },
    observer: new Proxy({}, { get: () => () => undefined }),
    log: new Proxy({}, { get: () => () => undefined }),
  } as unknown as GatewayParts
  const client = {
    refuse: (refused: Refusal) => void happened.refused.push(refused),
    answer: (text: string) => void happened.answers.push(text),
    hasLeft: () => false,
    onLeave: () => {},
  } as unknown as Client
  const key = {
    id: 'k',
    customerId: 'c',
    modelIdSet: null,
    callsAtOnce: null,
    cacheSeconds: null,
    shield: { action: 'off' },
    requestsPerMinute: 9,
  } as unknown as ActiveKey
  const kind = createChatKind(format, { lease, callTimeoutMs: CALL_TIMEOUT_MS })
  await createServeCall(parts, kind)(
    {
      requestId: 'r',
      authorization: undefined,
      key,
      sessionId: undefined,
      ip: '127.0.0.1',
      receivedAtMs: performance.now(),
      body: Buffer.from(JSON.stringify(body)),
    },
    client,
  )
  happened.endedAtMs = Date.now()
  return happened
}

/** The price with this id. */
function findPrice(models: readonly Model[], id: number): Price {
  const prices = models.flatMap(({ routes }) =>
    routes.flatMap(({ price, priceSchedule }) => [
      price,
      ...(priceSchedule ?? []).map((each) => each.price),
    ]),
  )
  return prices.find((price) => price.id === id) as Price
}

/** The name by which a caller knows the upstream of a model. */
function nameOf({ vendor }: Model, { providerName }: UpstreamTerms): string {
  return (providerName ?? vendor).toLowerCase()
}

function check(
  models: readonly Model[],
  asked: Asked,
  terms: readonly UpstreamTerms[],
  { refused, answers, called, holds, resolutions, endedAtMs }: Happened,
): void {
  assert.equal(refused.length + answers.length, 1, 'one answer')
  assert.equal(resolutions.length, holds.length)
  for (const [index, resolution] of resolutions.entries()) {
    const hold = holds[index] as Attempt
    const model = models.find(({ id }) => id === hold.modelId) as Model
    assert.ok(resolution.billedNanoBrl <= hold.amountNanoBrl, 'a charge within its hold')
    if (resolution.outcome === 'released') continue
    // Within the time limit of one call, what the provider bills.
    const schedules = model.routes.filter(({ upstreamId }) => upstreamId === resolution.upstreamId)
    const billed = schedules.map(({ price: only, priceSchedule }) =>
      priceSchedule ? priceAt(priceSchedule, endedAtMs) : only,
    )
    if (endedAtMs - START_MS < CALL_TIMEOUT_MS)
      assert.ok(billed.some(({ id }) => id === (resolution.priceId ?? hold.priceId)))
    // In a price times a markup: micro-USD times 10^4.
    const price = findPrice(models, resolution.priceId ?? hold.priceId)
    for (const { input, output, reasoning } of price.tiers) {
      const paid = (each: bigint) => each * model.markupE4
      if (asked.prompt !== undefined) assert.ok(paid(input) <= BigInt(asked.prompt) * 10n ** 9n)
      const max = asked.completion === undefined ? undefined : BigInt(asked.completion) * 10n ** 9n
      if (max !== undefined) assert.ok(paid(output) <= max && paid(reasoning) <= max)
    }
  }
  const isAllowedOn = (model: Model, upstreamId: string): boolean => {
    const of = terms[UPSTREAMS.indexOf(upstreamId)] as UpstreamTerms
    const name = nameOf(model, of)
    return (
      (!asked.only?.length || asked.only.includes(name)) &&
      !asked.ignore?.includes(name) &&
      (asked.data_collection !== 'deny' || of.collectsData === false) &&
      (asked.allow_fallbacks !== false || !asked.order?.length || asked.order.includes(name))
    )
  }
  const tried = asked.allow_fallbacks === false ? ['m0'] : holds.map(({ modelId }) => modelId)
  const possible = models.filter(({ id }) => tried.includes(id))
  for (const id of called)
    assert.ok(
      possible.some((model) =>
        model.routes.some(({ upstreamId }) => upstreamId === id && isAllowedOn(model, id)),
      ),
      `${id} was called`,
    )
  if (asked.allow_fallbacks === false) {
    assert.ok(holds.length <= 1, 'no fallback model')
    if (!asked.order?.length) assert.ok(called.length <= 1, 'no other route')
  }
  const [first] = models
  const isFree = asked.prompt === undefined && asked.completion === undefined
  if (isFree && first?.routes.some(({ upstreamId }) => isAllowedOn(first, upstreamId)))
    assert.ok(called.length > 0, 'a route that may answer is asked')
  if (called.length === 0) assert.equal(refused[0]?.code, 'no_route_for_provider')
}

test('max_price, only, ignore and data_collection are never broken, whatever fails and whichever price begins meanwhile', async () => {
  mock.timers.enable({ apis: ['Date'] })
  let answered = 0
  let excluded = 0
  try {
    await fc.assert(
      fc.asyncProperty(
        anyModels,
        anyAsked,
        fc.array(anyTerms, { minLength: UPSTREAMS.length, maxLength: UPSTREAMS.length }),
        anyDeeds,
        anyWait,
        async (models, asked, terms, deeds, waits) => {
          mock.timers.setTime(START_MS)
          const happened = await serve(models, asked, terms, deeds, waits)
          check(models, asked, terms, happened)
          answered += happened.answers.length
          excluded += happened.called.length === 0 ? 1 : 0
        },
      ),
      { numRuns: effort({ ordinary: 1_500, full: 50_000 }) },
    )
  } finally {
    mock.timers.reset()
  }
  const found = `${answered} answered, ${excluded} excluded`
  assert.ok(answered > 300 && excluded > 300, found)
})
