/**
 * Which of a model's routes are tried, and in which order, by what this node saw of them. It is known to
 * this node alone and forgotten at its end: a route that fails is found out soon enough.
 */
import type { Model, Route } from '../../catalog/model.ts'
import {
  createCircuitBreaker,
  DEFAULT_BREAKER,
  type BreakerOptions,
  type BreakerState,
  type CircuitBreaker,
} from './circuit-breaker.ts'
import { orderRoutes } from './order-routes.ts'

export interface Router {
  /** The routes that may be tried now, in their order; why there are none where there are none. */
  order(model: Model): readonly Route[] | 'busy' | 'failing'
  /** Whether a call may go on it now. */
  mayBegin(route: Route): boolean
  begin(route: Route): Trip
  /** Every route of the catalog. */
  listStates(): readonly RouteState[]
}

/** One call on a route. It ends with one of its methods, and the first one counts. */
export interface Trip {
  /** A first byte came: the route answers. The call still counts as running until its end. */
  answered(firstByteMs: number): void
  end(): void
  /** It failed by its own fault, or asked to be left alone for a while. */
  fail(pauseSeconds?: number): void
  /** It failed for reasons that say nothing of the route. */
  abstain(): void
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
  latencyMs: number | undefined
  coolUntilMs: number
}

/** How much one more call weighs in the usual latency. */
const LATENCY_SMOOTHING = 0.2
const FAILURE_LATENCY_MS = 10_000
const PAUSE_SECONDS_MAX = 60

export function createRouter(
  models: readonly Model[],
  breakerOf: (upstreamId: string) => BreakerOptions | undefined = () => undefined,
  now: () => number = () => performance.now(),
): Router {
  const states = new Map<Route, State>()
  /** A model of an upstream is one thing, however many models of the catalog lead to it. */
  const byName = new Map<string, State>()
  for (const route of models.flatMap(({ routes }) => routes)) {
    const { upstreamId } = route
    const name = `${upstreamId}\n${route.upstreamModel}`
    const state = byName.get(name) ?? createState(breakerOf(upstreamId) ?? DEFAULT_BREAKER, now)
    byName.set(name, state)
    states.set(route, state)
  }
  const stateOf = (route: Route): State => states.get(route) as State
  const isFree = (route: Route): boolean => stateOf(route).running < route.concurrencyMax

  return {
    order({ routes, strategy }) {
      const [only] = routes
      if (only && routes.length === 1) {
        if (!stateOf(only).breaker.allows) return 'failing'
        return isFree(only) ? routes : 'busy'
      }
      const working = routes.filter((route) => stateOf(route).breaker.allows)
      if (working.length === 0) return 'failing'
      const free = working.filter(isFree)
      if (free.length === 0) return 'busy'
      if (free.length === 1) return free
      const nowMs = now()
      const views = free.map((route) => {
        const { latencyMs, coolUntilMs } = stateOf(route)
        return { route, latencyMs, isCooling: nowMs < coolUntilMs }
      })
      return orderRoutes(strategy, views)
    },
    mayBegin: (route) => stateOf(route).breaker.allows && isFree(route),
    begin: (route) => beginTrip(stateOf(route), now),
    listStates: () =>
      models.flatMap((model) =>
        model.routes.map((route) => {
          const { breaker, running } = stateOf(route)
          return { model, route, breaker: breaker.state, running }
        }),
      ),
  }
}

function createState(options: BreakerOptions, now: () => number): State {
  return {
    breaker: createCircuitBreaker(options, now),
    running: 0,
    latencyMs: undefined,
    coolUntilMs: -Infinity,
  }
}

function smoothed(usualMs: number | undefined, ms: number): number {
  return usualMs === undefined ? ms : usualMs + (ms - usualMs) * LATENCY_SMOOTHING
}

function beginTrip(state: State, now: () => number): Trip {
  let hasAnswered = false
  let hasEnded = false
  const { breaker } = state
  const wasClosed = breaker.state === 'closed'
  /** Where it opened since, what becomes of this trip says nothing of the route as it is now. */
  const tell = (what: 'succeed' | 'fail' | 'abstain'): void => {
    if (!wasClosed || breaker.state === 'closed') breaker[what]()
  }
  state.running += 1
  breaker.begin()
  const finish = (report: () => void): void => {
    if (hasEnded) return
    hasEnded = true
    state.running -= 1
    report()
  }
  return {
    answered(firstByteMs) {
      if (hasAnswered || hasEnded) return
      hasAnswered = true
      state.latencyMs = smoothed(state.latencyMs, firstByteMs)
      // The end of the answer says whether it was one; a route that is tried again is not kept waiting.
      if (breaker.state !== 'closed') tell('succeed')
    },
    end: () =>
      finish(() => {
        if (hasAnswered) tell('succeed')
      }),
    fail: (pauseSeconds) =>
      finish(() => {
        if (pauseSeconds === undefined) {
          // In the order by latency a failure counts as a slow answer.
          state.latencyMs = smoothed(state.latencyMs, FAILURE_LATENCY_MS)
          return tell('fail')
        }
        tell('abstain')
        state.coolUntilMs = now() + Math.min(pauseSeconds, PAUSE_SECONDS_MAX) * 1_000
      }),
    abstain: () => finish(() => tell('abstain')),
  }
}
