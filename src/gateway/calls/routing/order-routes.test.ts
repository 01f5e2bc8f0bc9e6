import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../../test/harness/fast-check.ts'
import type { Route, RouteOrder } from '../../../money/catalog/model.ts'
import type { Price } from '../../../money/catalog/prices.ts'
import { orderRoutes, type RouteView } from './order-routes.ts'

const PRICE: Price = {
  id: 1,
  tiers: [
    { abovePromptTokens: 0, input: 1n, cachedInput: 1n, cacheWrite: 1n, output: 1n, reasoning: 1n },
  ],
}

function priceOf(input: bigint, output: bigint, units?: Record<string, bigint>): Price {
  const tier = { ...(PRICE.tiers[0] as Price['tiers'][number]), input, output }
  return { id: 1, tiers: [tier], ...(units ? { units } : {}) }
}

function viewOf(
  name: string,
  { latencyMs, isCooling = false, ...route }: Partial<Route> & Partial<RouteView> = {},
): RouteView {
  const plain = { priority: 0, weight: 1, concurrencyMax: Infinity, price: PRICE }
  return {
    route: { upstreamId: name, upstreamModel: name, ...plain, ...route },
    latencyMs,
    isCooling,
  }
}

function namesOf(
  strategy: RouteOrder,
  views: readonly RouteView[],
  random?: () => number,
): string[] {
  return orderRoutes(strategy, views, undefined, random).map((route) => route.upstreamId)
}

/** Random numbers from 0 to 1, the same in every run. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const anyView = fc
  .record({
    priority: fc.integer({ min: 0, max: 3 }),
    weight: fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
    latencyMs: fc.option(fc.integer({ min: 0, max: 500 }), { nil: undefined }),
    isCooling: fc.boolean(),
    input: fc.bigInt({ min: 0n, max: 9n }),
    output: fc.bigInt({ min: 0n, max: 9n }),
  })
  .map(({ input, output, ...rest }) => viewOf('some', { ...rest, price: priceOf(input, output) }))
const anyViews = fc.array(anyView, { maxLength: 8 })
const anyStrategy = fc.constantFrom<RouteOrder>('priority', 'latency', 'price', 'fastest')
const anyConversation = fc.string({ maxLength: 40 })

test('every strategy returns each route exactly once', () => {
  fc.assert(
    fc.property(anyStrategy, anyViews, fc.integer(), (strategy, views, seed) => {
      const ordered = orderRoutes(strategy, views, undefined, createRandom(seed))
      assert.equal(ordered.length, views.length)
      assert.deepEqual(new Set(ordered), new Set(views.map(({ route }) => route)))
    }),
  )
})

test('a route that asked for a pause comes after all others', () => {
  fc.assert(
    fc.property(anyStrategy, anyViews, fc.integer(), (strategy, views, seed) => {
      const cooling = new Set(views.filter((view) => view.isCooling).map(({ route }) => route))
      const ordered = orderRoutes(strategy, views, undefined, createRandom(seed))
      const isCooling = ordered.map((route) => Number(cooling.has(route)))
      assert.deepEqual(
        isCooling,
        isCooling.toSorted((left, right) => left - right),
      )
    }),
  )
})

const RANKS: Record<RouteOrder, (view: RouteView) => number> = {
  priority: ({ route }) => route.priority,
  latency: ({ latencyMs }) => latencyMs ?? 0,
  fastest: ({ latencyMs }) => latencyMs ?? 0,
  price: ({ route }) =>
    3 * Number(route.price.tiers[0]?.input) + Number(route.price.tiers[0]?.output),
}

test('among routes that work, the strategy always decides', () => {
  fc.assert(
    fc.property(
      anyStrategy,
      anyViews,
      fc.integer(),
      fc.option(anyConversation, { nil: undefined }),
      (strategy, views, seed, conversation) => {
        fc.pre(strategy !== 'latency' || conversation === undefined)
        const working = views.filter((view) => !view.isCooling)
        const viewOfRoute = new Map(working.map((view) => [view.route, view]))
        const ordered = orderRoutes(strategy, working, conversation, createRandom(seed))
        const ranks = ordered.map((route) => RANKS[strategy](viewOfRoute.get(route) as RouteView))
        assert.deepEqual(
          ranks,
          ranks.toSorted((left, right) => left - right),
        )
      },
    ),
  )
})

/** The chi-squared distance of counts from their expectation; it exceeds the limit in one of a million runs. */
function chiSquare(counts: readonly number[], expected: readonly number[]): number {
  return counts.reduce((sum, count, at) => {
    const wanted = expected[at] as number
    return sum + (count - wanted) ** 2 / wanted
  }, 0)
}
/** The limits by degrees of freedom: the number of values minus one. */
const CHI_SQUARE_MAX = [0, 23.9, 27.6, 30.7, 33.4]

const DRAWS = 4_000

test('the order follows the weights: in the first place, and among the rest in the second', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 2, maxLength: 5 }),
      fc.integer({ min: 0, max: 3 }),
      fc.integer(),
      (weights, priority, seed) => {
        const random = createRandom(seed)
        const views = weights.map((weight, at) => viewOf(String(at), { weight, priority }))
        const total = weights.reduce((sum, weight) => sum + weight, 0)
        const first = weights.map(() => 0)
        const second = weights.map(() => 0)
        const secondExpected = weights.map(() => 0)
        for (let draw = 0; draw < DRAWS; draw++) {
          const [one = 0, other = 0] = namesOf('priority', views, random).map(Number)
          first[one] = (first[one] as number) + 1
          second[other] = (second[other] as number) + 1
        }
        const firstExpected = weights.map((weight) => (DRAWS * weight) / total)
        for (const [one, weight] of weights.entries()) {
          for (const [other, itsWeight] of weights.entries()) {
            if (one === other) continue
            const share = ((weight / total) * itsWeight) / (total - weight)
            secondExpected[other] = (secondExpected[other] as number) + DRAWS * share
          }
        }
        const limit = CHI_SQUARE_MAX[weights.length - 1] as number
        const [isFirst, isSecond] = [
          chiSquare(first, firstExpected),
          chiSquare(second, secondExpected),
        ]
        assert.ok(isFirst < limit, `first: ${first.join()}, expected ${firstExpected.join()}`)
        assert.ok(isSecond < limit, `second: ${second.join()}, expected ${secondExpected.join()}`)
      },
    ),
    { numRuns: 50, seed: 20_260_301 },
  )
})

test('weights count only within a priority: a heavy route of a later priority never comes first', () => {
  const views = [viewOf('light', { weight: 0.001 }), viewOf('heavy', { weight: 1e6, priority: 1 })]
  const random = createRandom(7)
  for (let draw = 0; draw < 1_000; draw++)
    assert.deepEqual(namesOf('priority', views, random), ['light', 'heavy'])
})

test('the extreme values of the random source give a valid order', () => {
  const views = [viewOf('one', { weight: 1e-9 }), viewOf('two', { weight: 1e9 }), viewOf('three')]
  for (const value of [0, 1 - 2 ** -53])
    assert.equal(new Set(namesOf('priority', views, () => value)).size, 3)
})

test('latency: untried routes come first, then the fastest', () => {
  const views = [
    viewOf('slow', { latencyMs: 900 }),
    viewOf('quick', { latencyMs: 20, priority: 9 }),
    viewOf('new', { priority: 5 }),
  ]
  assert.deepEqual(namesOf('latency', views), ['new', 'quick', 'slow'])
})

test('price: three input tokens weigh like one output token; among equals the priority decides', () => {
  const views = [
    viewOf('dear output', { price: priceOf(1n, 13n) }),
    viewOf('second of equals', { price: priceOf(4n, 0n), priority: 2 }),
    viewOf('first of equals', { price: priceOf(1n, 9n), priority: 1 }),
    viewOf('dear input', { price: priceOf(5n, 0n), priority: 0 }),
  ]
  assert.deepEqual(namesOf('price', views), [
    'first of equals',
    'second of equals',
    'dear input',
    'dear output',
  ])
})

test('price: units count too', () => {
  const views = [
    viewOf('dear seconds', { price: priceOf(0n, 0n, { audio_seconds: 100n }) }),
    viewOf('cheap seconds', { price: priceOf(0n, 0n, { audio_seconds: 30n }), priority: 9 }),
  ]
  assert.deepEqual(namesOf('price', views), ['cheap seconds', 'dear seconds'])
})

const anyOthers = fc.uniqueArray(fc.integer({ min: 0, max: 99 }), { minLength: 1, maxLength: 6 })

test('a conversation has one order of equal routes, in which a route that is left out changes no other', () => {
  fc.assert(
    fc.property(anyOthers, anyConversation, fc.nat(), (numbers, conversation, at) => {
      const views = numbers.map((number) => viewOf(`route ${number}`))
      const orderOf = (some: RouteView[]): string[] =>
        orderRoutes('priority', some, conversation).map(({ upstreamId }) => upstreamId)
      const whole = orderOf(views)
      assert.deepEqual(orderOf(views.toReversed()), whole)
      const left = views[at % views.length]?.route.upstreamId
      assert.deepEqual(
        orderOf(views.filter(({ route }) => route.upstreamId !== left)),
        whole.filter((name) => name !== left),
      )
    }),
  )
})

test('conversations are shared out by the weights', () => {
  const weights = [1, 2, 5]
  const views = weights.map((weight, at) => viewOf(String(at), { weight }))
  const counts = weights.map(() => 0)
  for (let draw = 0; draw < DRAWS; draw++) {
    const first = Number(orderRoutes('priority', views, `conversation ${draw}`)[0]?.upstreamId)
    counts[first] = (counts[first] as number) + 1
  }
  const expected = weights.map((weight) => (DRAWS * weight) / 8)
  assert.ok(chiSquare(counts, expected) < (CHI_SQUARE_MAX[2] as number), counts.join())
})

test('latency: a conversation stays where it is unless that route is slow', () => {
  const first = (latencies: (number | undefined)[], conversation: string): string | undefined =>
    orderRoutes(
      'latency',
      latencies.map((latencyMs, at) => viewOf(String(at), { latencyMs })),
      conversation,
    )[0]?.upstreamId
  const counts = [0, 0]
  for (let number = 0; number < 100; number++) {
    const name = `conversation ${number}`
    const home = Number(first([100, 100], name))
    counts[home] = (counts[home] as number) + 1
    for (const quick of [
      [100, 1_200],
      [1_200, 100],
      [undefined, 100],
      [undefined, undefined],
    ])
      assert.equal(first(quick, name), String(home))
    assert.equal(first([100, 1_201], name), '0')
    assert.equal(first([Infinity, 100], name), '1', 'a first call that runs may hang')
  }
  assert.ok(Math.min(...counts) > 20, counts.join())
})
