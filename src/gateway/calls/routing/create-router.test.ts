import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Model, Route } from '../../../money/catalog/model.ts'
import type { Price } from '../../../money/catalog/prices.ts'
import { createRouter, type Router } from './create-router.ts'

const PRICE: Price = {
  id: 1,
  tiers: [
    { abovePromptTokens: 0, input: 1n, cachedInput: 1n, cacheWrite: 1n, output: 1n, reasoning: 1n },
  ],
}

function routeOf(upstreamModel: string, priority: number, more: Partial<Route> = {}): Route {
  const plain = { upstreamId: 'upstream', weight: 1, concurrencyMax: Infinity, price: PRICE }
  return { upstreamModel, priority, ...plain, ...more }
}

function modelOf(routes: readonly Route[], more: Partial<Model> = {}): Model {
  return {
    id: 'model',
    displayName: 'model',
    category: 'llm',
    description: null,
    vendor: 'maker',
    markupE4: 10_000n,
    price: PRICE,
    contextTokens: 1_000,
    outputTokensMax: 100,
    imageTokensMax: 0,
    supportsTools: false,
    strategy: 'priority',
    routes,
    ...more,
  }
}

interface TestRouter {
  readonly router: Router
  /** The names of the routes in order, or the reason why there are none. */
  readonly order: (model: Model) => string
  readonly pass: (ms: number) => void
}

function createTestRouter(...models: readonly Model[]): TestRouter {
  let nowMs = 1_000
  const router = createRouter(
    models,
    () => ({ failures: 2, openMs: 1_000 }),
    () => nowMs,
  )
  return {
    router,
    order(model) {
      const order = router.order(model)
      return typeof order === 'string'
        ? order
        : order.map(({ upstreamModel }) => upstreamModel).join()
    },
    pass: (ms) => void (nowMs += ms),
  }
}

function failTwice(router: Router, route: Route): void {
  router.begin(route).fail()
  router.begin(route).fail()
}

const [one, other] = [routeOf('one', 0), routeOf('other', 1)]

test('a route whose breaker is open is left out; if none is left, the model is failing', () => {
  const model = modelOf([one, other])
  const { router, order } = createTestRouter(model)
  assert.equal(order(model), 'one,other')
  failTwice(router, one)
  assert.equal(order(model), 'other')
  failTwice(router, other)
  assert.equal(order(model), 'failing')
})

test('a route that was copied for another price keeps its breaker', () => {
  const model = modelOf([one, other])
  const { router, order } = createTestRouter(model)
  failTwice(router, { ...one })
  assert.equal(order({ ...model, routes: [{ ...one }, other] }), 'other')
})

test('a full route is left out until one of its calls ends; if none is left, the model is busy', () => {
  const narrow = routeOf('narrow', 0, { concurrencyMax: 2 })
  const model = modelOf([narrow, other])
  const alone = modelOf([narrow], { id: 'alone' })
  const { router, order } = createTestRouter(model, alone)
  const trips = [router.begin(narrow), router.begin(narrow)]
  assert.equal(order(model), 'other')
  assert.equal(order(alone), 'busy')
  // After its first byte the call still counts as running.
  trips[0]?.answered(5)
  assert.equal(order(alone), 'busy')
  trips[0]?.end()
  assert.equal(order(alone), 'narrow')
})

test('ending a call frees its slot once, and only the first ending counts', () => {
  const narrow = routeOf('narrow', 0, { concurrencyMax: 1 })
  const model = modelOf([narrow])
  const { router } = createTestRouter(model)
  const runningNow = (): number | undefined => router.listStates()[0]?.running
  for (const end of ['end', 'fail', 'abstain'] as const) {
    const routeCall = router.begin(narrow)
    assert.equal(runningNow(), 1)
    routeCall[end]()
    assert.equal(runningNow(), 0)
    routeCall.end()
    routeCall.fail()
    routeCall.abstain()
    assert.equal(runningNow(), 0)
  }
  assert.equal(router.listStates()[0]?.breaker, 'closed', 'the second fail() did not count')
})

test('a route that asked for a pause goes last for that time, a minute at most, and its breaker ignores it', () => {
  const model = modelOf([one, other])
  const { router, order, pass } = createTestRouter(model)
  for (let i = 0; i < 10; i++) router.begin(one).fail(2)
  assert.equal(order(model), 'other,one')
  pass(1_999)
  assert.equal(order(model), 'other,one')
  pass(1)
  assert.equal(order(model), 'one,other')
  router.begin(one).fail(86_400)
  pass(59_999)
  assert.equal(order(model), 'other,one')
  pass(1)
  assert.equal(order(model), 'one,other')
})

test('an answer that breaks off after its first byte counts as a failure', () => {
  const model = modelOf([one, other])
  const { router, order } = createTestRouter(model)
  router.begin(one).fail()
  const routeCall = router.begin(one)
  routeCall.answered(5)
  routeCall.fail()
  router.begin(one).fail()
  assert.equal(order(model), 'other')
})

test('the average latency moves by a fifth toward each new measurement', () => {
  const model = modelOf([one, other], { strategy: 'latency' })
  const { router, order } = createTestRouter(model)
  const measure = (route: Route, ms: number): void => {
    const routeCall = router.begin(route)
    routeCall.answered(ms)
    routeCall.end()
  }
  measure(one, 100)
  assert.equal(order(model), 'other,one', 'what was never tried comes first')
  measure(other, 200)
  assert.equal(order(model), 'one,other')
  // 100, 200, 280: above 200 with the second one.
  measure(one, 600)
  measure(one, 600)
  assert.equal(order(model), 'other,one')
})

test('catalog models that route to the same upstream model share its state', () => {
  const same = routeOf('one', 3)
  const elsewhere = routeOf('one', 0, { upstreamId: 'elsewhere' })
  const [left, right] = [modelOf([one]), modelOf([same, elsewhere], { id: 'right' })]
  const { router, order } = createTestRouter(left, right)
  failTwice(router, one)
  assert.equal(order(left), 'failing')
  assert.deepEqual(
    router.listStates().map(({ model, route, breaker }) => [model.id, route.upstreamId, breaker]),
    [
      ['model', 'upstream', 'open'],
      ['right', 'upstream', 'open'],
      ['right', 'elsewhere', 'closed'],
    ],
  )
  assert.deepEqual(router.order(right), [elsewhere])
})

test('after the pause one call probes the route, and no other passes until that call ends', () => {
  const model = modelOf([one])
  const { router, order, pass } = createTestRouter(model)
  failTwice(router, one)
  pass(1_000)
  assert.equal(order(model), 'one')
  const routeCall = router.begin(one)
  assert.equal(order(model), 'failing')
  routeCall.answered(5)
  assert.equal(order(model), 'one')
})

for (const end of ['abstain', 'fail'] as const) {
  test(`a call from before the opening that ends by ${end}() during the probe changes nothing`, () => {
    const model = modelOf([one])
    const { router, order, pass } = createTestRouter(model)
    const early = router.begin(one)
    failTwice(router, one)
    pass(1_000)
    const routeCall = router.begin(one)
    early[end]()
    assert.equal(router.listStates()[0]?.breaker, 'half_open')
    assert.equal(order(model), 'failing', 'the try has not ended')
    routeCall.answered(5)
    assert.equal(order(model), 'one')
  })
}

test('a latency that is five minutes old is measured again', () => {
  const model = modelOf([one, other], { strategy: 'latency' })
  const { router, order, pass } = createTestRouter(model)
  router.begin(one).answered(100)
  router.begin(other).answered(200)
  // As of requests of one customer on which this route alone fails.
  for (const customer of ['bogus', 'bogus']) router.begin(one, customer).fail()
  pass(1_000)
  const probe = router.begin(one)
  probe.answered(100)
  probe.end()
  assert.equal(order(model), 'other,one')
  pass(299_000)
  router.begin(other).answered(200)
  assert.equal(order(model), 'other,one')
  pass(1_001)
  assert.equal(order(model), 'one,other')
  router.begin(one).answered(100)
  router.begin(other).answered(200)
  assert.equal(order(model), 'one,other')
})

test('while one call measures a route again, the other calls go to the fastest of the others', () => {
  const model = modelOf([one, other], { strategy: 'latency' })
  const { router, order, pass } = createTestRouter(model)
  router.begin(one).answered(60_000)
  pass(300_001)
  router.begin(other).answered(200)
  assert.equal(order(model), 'one,other')
  const call = router.begin(one)
  assert.equal(order(model), 'other,one')
  call.abstain()
  assert.equal(order(model), 'one,other')
})
