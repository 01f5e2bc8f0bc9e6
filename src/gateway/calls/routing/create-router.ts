/**
 * Decides which routes of a model are tried, and in which order, from the results that this node has seen. Each node
 * keeps this state in memory only: a new node detects a failing route within seconds.
 */
import type { Model, Route } from '../../../money/catalog/model.ts'
import {
  createCircuitBreaker,
  DEFAULT_BREAKER,
  type BreakerOptions,
  type BreakerState,
  type CircuitBreaker,
} from './circuit-breaker.ts'
import { NOTHING_ELSEWHERE, type SharedRunning } from '../../../platform/admission/share.ts'
import { orderRoutes } from './order-routes.ts'

export interface Router {
  /**
   * The routes that may be tried now for this customer, in order; or the reason why there are none. Only where several
   * may be tried, the conversation is asked for.
   */
  order(
    model: Model,
    customerId?: string,
    conversationOf?: () => string | undefined,
  ): readonly Route[] | 'busy' | 'failing'
  /** Whether the route may take another call now. */
  mayBegin(route: Route, customerId?: string): boolean
  begin(route: Route, customerId?: string): RouteCall
  /** The state of every configured route, and of the discovered ones that were called. */
  listStates(): readonly RouteState[]
}

/** A call on a route. `end`, `fail` or `abstain` ends it; the first of these counts, later ones are ignored. */
export interface RouteCall {
  /** The first byte arrived. The call still counts as running until its end. */
  answered(firstByteMs: number): void
  end(): void
  /** The route failed; with `pauseSeconds`, it asked for a pause, which does not count as a failure. */
  fail(pauseSeconds?: number): void
  /** The call failed for a reason that must not count against the route; or `byRequest`, because of the request itself. */
  abstain(byRequest?: boolean): void
}

export interface RouteState {
  readonly model: Model
  readonly route: Route
  readonly breaker: BreakerState
  readonly running: number
}

interface State {
  readonly breaker: CircuitBreaker
  running: number
  /** Of these, the calls whose first byte has not arrived. */
  unanswered: number
  latencyMs: number | undefined
  measuredAtMs: number
  coolUntilMs: number
}

/** The weight of the newest call in the moving average of the latency. */
const LATENCY_SMOOTHING = 0.2
const FAILURE_LATENCY_MS = 10_000
/** An older latency says nothing: a route that was slow, or failed, would never be measured again. */
const LATENCY_KEPT_MS = 300_000
const PAUSE_SECONDS_MAX = 60

export function createRouter(
  models: readonly Model[],
  breakerOf: (upstreamId: string) => BreakerOptions | undefined = () => undefined,
  now: () => number = () => performance.now(),
  /** The calls of the server's other processes, which count for `concurrencyMax`. */
  shared: SharedRunning = NOTHING_ELSEWHERE,
): Router {
  const states = new Map<Route, State>()
  /** Routes of several catalog models to the same upstream model share one state. */
  const byName = new Map<string, State>()
  const configured = models.filter(({ isDiscovered }) => !isDiscovered)
  const listed = configured.flatMap((model) => model.routes.map((route) => ({ model, route })))
  const namedState = (route: Route): State => {
    const name = nameOf(route)
    const known = byName.get(name)
    if (known) return known
    const state = createState(breakerOf(route.upstreamId) ?? DEFAULT_BREAKER, now)
    byName.set(name, state)
    return state
  }
  for (const { route } of listed) states.set(route, namedState(route))
  // The catalog copies a route when its price changes with the time.
  const stateOf = (route: Route): State => states.get(route) ?? namedState(route)
  /** A discovered model is listed from its first call on: there may be hundreds. */
  const notice = (model: Model): void => {
    for (const route of model.routes)
      if (!states.has(route) && !byName.has(nameOf(route))) listed.push({ model, route })
  }
  const isFree = (route: Route): boolean => {
    const { concurrencyMax } = route
    if (concurrencyMax === Infinity) return true
    return stateOf(route).running + shared.elsewhere(nameOf(route)) < concurrencyMax
  }

  return {
    order(model, customerId, conversationOf) {
      const { routes, strategy } = model
      if (model.isDiscovered) notice(model)
      const [only] = routes
      if (only && routes.length === 1) {
        if (!stateOf(only).breaker.allows(customerId)) return 'failing'
        return isFree(only) ? routes : 'busy'
      }
      const working = routes.filter((route) => stateOf(route).breaker.allows(customerId))
      if (working.length === 0) return 'failing'
      const free = working.filter(isFree)
      if (free.length === 0) return 'busy'
      if (free.length === 1) return free
      const nowMs = now()
      const views = free.map((route) => {
        const state = stateOf(route)
        return {
          route,
          // One call at a time measures a route: its first byte may take minutes.
          latencyMs: latencyAt(nowMs, state) ?? (state.unanswered > 0 ? Infinity : undefined),
          isCooling: nowMs < state.coolUntilMs,
        }
      })
      return orderRoutes(strategy, views, conversationOf?.())
    },
    mayBegin: (route, customerId) => stateOf(route).breaker.allows(customerId) && isFree(route),
    begin(route, customerId) {
      const state = stateOf(route)
      if (route.concurrencyMax === Infinity) return beginRouteCall(state, now, customerId)
      const onRunning = (): void => shared.changed(nameOf(route), state.running)
      return beginRouteCall(state, now, customerId, onRunning)
    },
    listStates: () =>
      listed.map(({ model, route }) => {
        const { breaker, running } = stateOf(route)
        return { model, route, breaker: breaker.state, running }
      }),
  }
}

function nameOf({ upstreamId, upstreamModel }: Route): string {
  return `${upstreamId}\n${upstreamModel}`
}

function createState(options: BreakerOptions, now: () => number): State {
  return {
    breaker: createCircuitBreaker(options, now),
    running: 0,
    unanswered: 0,
    latencyMs: undefined,
    measuredAtMs: -Infinity,
    coolUntilMs: -Infinity,
  }
}

function latencyAt(nowMs: number, { latencyMs, measuredAtMs }: State): number | undefined {
  return nowMs - measuredAtMs > LATENCY_KEPT_MS ? undefined : latencyMs
}

function measure(state: State, nowMs: number, ms: number): void {
  const usualMs = latencyAt(nowMs, state)
  state.latencyMs = usualMs === undefined ? ms : usualMs + (ms - usualMs) * LATENCY_SMOOTHING
  state.measuredAtMs = nowMs
}

function beginRouteCall(
  state: State,
  now: () => number,
  customerId: string | undefined,
  onRunning: () => void = () => {},
): RouteCall {
  let hasAnswered = false
  let hasEnded = false
  const { breaker } = state
  const wasClosed = breaker.state === 'closed'
  /** If the breaker opened during this call, the result is stale and is not reported. */
  const reportToBreaker = (result: 'succeed' | 'fail' | 'abstain' | 'refuse'): void => {
    if (!wasClosed || breaker.state === 'closed') breaker[result](customerId)
  }
  state.running += 1
  state.unanswered += 1
  onRunning()
  breaker.begin(customerId)
  const finish = (report: () => void): void => {
    if (hasEnded) return
    hasEnded = true
    state.running -= 1
    if (!hasAnswered) state.unanswered -= 1
    onRunning()
    report()
  }
  return {
    answered(firstByteMs) {
      if (hasAnswered || hasEnded) return
      hasAnswered = true
      state.unanswered -= 1
      measure(state, now(), firstByteMs)
      // Normally the end of the answer decides. A probe succeeds at the first byte, so that the route closes at once.
      if (breaker.state !== 'closed') reportToBreaker('succeed')
    },
    end: () =>
      finish(() => {
        if (hasAnswered) reportToBreaker('succeed')
      }),
    fail: (pauseSeconds) =>
      finish(() => {
        if (pauseSeconds === undefined) {
          // The latency strategy counts a failure as a slow answer.
          measure(state, now(), FAILURE_LATENCY_MS)
          return reportToBreaker('fail')
        }
        reportToBreaker('abstain')
        state.coolUntilMs = now() + Math.min(pauseSeconds, PAUSE_SECONDS_MAX) * 1_000
      }),
    abstain: (byRequest) => finish(() => reportToBreaker(byRequest ? 'refuse' : 'abstain')),
  }
}
