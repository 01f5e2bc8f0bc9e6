/**
 * Stops calls on a route that fails, and lets a single probe through after a pause.
 *
 *   closed     all calls pass
 *   open       no call passes until the pause is over; each consecutive opening doubles the pause
 *   half_open  one call passes as the probe, and another one if it lasts for longer than the first pause: a success
 *              closes the breaker, a failure opens it again; after five minutes without a probe the breaker closes
 *
 * After a probe that lasts, or whose client leaves, only other customers' calls may be the next probe, for one
 * more first pause: a customer that leaves each of its probes would keep the route closed to all. Nor can a few of them
 * do so in turn: a probe keeps away only customers that have begun as many of them as its own customer had, since the
 * breaker opened for all.
 *
 * The breaker opens after `failures` consecutive failures, or when at least half of the calls in a window of 10 s
 * failed (of 20 calls or more). Without the window, a route that fails every second call would never open it.
 *
 * If all of these failures are of one customer's calls, only that customer's calls are stopped: the requests may be what
 * fails. The first failure of another customer's call opens the breaker for all, and a success closes it. When the probe
 * of one customer fails, another one's call is the probe next, without a pause: if that fails too, the pause is doubled.
 */
export interface CircuitBreaker {
  readonly state: BreakerState
  /** Whether a call of this customer may pass now. */
  allows(customerId?: string): boolean
  /** Records a started call; when half-open, it is the probe. */
  begin(customerId?: string): void
  succeed(): void
  fail(customerId?: string): void
  /** Ends a call that says nothing about the route's health, as one whose client hung up. */
  abstain(customerId?: string): void
  /**
   * Ends a call whose request was at fault. It says nothing either, since a proxy may refuse requests for a model that is
   * down, but nobody has to wait after it: the next call is the probe, whoever's it is.
   */
  refuse(customerId?: string): void
}

export type BreakerState = 'closed' | 'open' | 'half_open'

export interface BreakerOptions {
  /** Consecutive failures that open the breaker; with 0 it never opens. */
  readonly failures: number
  readonly openMs: number
}

export const DEFAULT_BREAKER: BreakerOptions = { failures: 5, openMs: 5_000 }

const OPEN_MS_MAX = 60_000
const CLOSES_AFTER_MS = 300_000
const WINDOW_MS = 10_000
const WINDOW_CALLS_MIN = 20

export function createCircuitBreaker(
  { failures, openMs }: BreakerOptions,
  now: () => number = () => performance.now(),
): CircuitBreaker {
  let pauseMs = openMs
  let openUntilMs: number | undefined
  /** The latest probe since the breaker opened. Other customers' calls may be the next one from `freeAtMs` on. */
  let probe: Probe | undefined
  /** How many probes each customer has begun since the breaker opened for all: none has closed it. */
  const begun = new Map<string, number>()
  let consecutive = noFailures()
  let window = { sinceMs: -Infinity, calls: 0, failed: noFailures() }
  /** The customer of all failures that opened the breaker, or of the probe that failed. */
  let openFor: string | undefined
  /** Whether the other customers' calls pass as probes, one at a time, because the breaker was open for them, too. */
  let othersProbe = false

  function count(hasFailed: boolean, customerId?: string): void {
    if (now() - window.sinceMs > WINDOW_MS)
      window = { sinceMs: now(), calls: 0, failed: noFailures() }
    window.calls += 1
    if (hasFailed) add(window.failed, customerId)
  }

  /** The failures for which it must open; undefined if it must not. */
  function causeToOpen(): Failures | undefined {
    if (consecutive.count >= failures) return consecutive
    const isHalf = window.calls >= WINDOW_CALLS_MIN && window.failed.count * 2 >= window.calls
    return isHalf ? window.failed : undefined
  }

  function open(customerId: string | undefined): void {
    openFor = customerId
    openUntilMs = now() + pauseMs
    pauseMs = Math.min(pauseMs * 2, OPEN_MS_MAX)
    probe = undefined
    if (customerId === undefined) begun.clear()
  }

  /** The failure of a call that began before the breaker opened changes nothing: no probe runs then. */
  function failWhileOpen(customerId: string | undefined): void {
    const isOthers = openFor !== undefined && openFor !== customerId
    if (isOthers && !othersProbe) {
      // The pause was doubled for one customer's calls alone.
      pauseMs = openMs
      open(undefined)
    } else if (!probe?.isRunning) return
    else if (isOthers || customerId === undefined) {
      othersProbe = false
      open(undefined)
    } else if (openFor === customerId) open(customerId)
    else {
      const pauseOfAllMs = pauseMs
      open(customerId)
      pauseMs = pauseOfAllMs
      othersProbe = true
    }
  }

  function close(): void {
    openUntilMs = undefined
    probe = undefined
    begun.clear()
    pauseMs = openMs
    openFor = undefined
    othersProbe = false
    consecutive = noFailures()
    window = { sinceMs: now(), calls: 0, failed: noFailures() }
  }

  /** A probe may take minutes, as a plain call of a model that thinks; another one may answer at once. */
  function mayProbe(customerId: string | undefined): boolean {
    if (!probe) return true
    const isAgain = customerId !== undefined && customerId === probe.customerId
    if (isAgain) return now() >= probe.freeAtMs + openMs
    return now() >= probe.freeAtMs || begunBy(customerId) < probe.begunBefore
  }

  function begunBy(customerId: string | undefined): number {
    return customerId === undefined ? 0 : (begun.get(customerId) ?? 0)
  }

  function stateNow(): BreakerState {
    if (openUntilMs === undefined) return 'closed'
    const overMs = now() - openUntilMs
    if (overMs < 0) return 'open'
    if (overMs < CLOSES_AFTER_MS || probe?.isRunning) return 'half_open'
    close()
    return 'closed'
  }

  return {
    get state() {
      return stateNow()
    },
    allows(customerId) {
      const state = stateNow()
      if (state === 'closed') return true
      if (openFor !== undefined && openFor !== customerId)
        return !othersProbe || mayProbe(customerId)
      return state === 'half_open' && mayProbe(customerId)
    },
    begin(customerId) {
      if (openUntilMs === undefined) return
      const begunBefore = begunBy(customerId)
      probe = { customerId, isRunning: true, freeAtMs: now() + openMs, begunBefore }
      if (customerId !== undefined) begun.set(customerId, begunBefore + 1)
    },
    succeed() {
      consecutive = noFailures()
      if (openUntilMs === undefined) count(false)
      else close()
    },
    fail(customerId) {
      add(consecutive, customerId)
      count(true, customerId)
      if (failures === 0) return
      if (openUntilMs !== undefined) return failWhileOpen(customerId)
      const cause = causeToOpen()
      if (cause) open(cause.customerId)
    },
    refuse(customerId) {
      if (probe?.customerId === customerId) probe = undefined
    },
    abstain(customerId) {
      if (!probe || probe.customerId !== customerId) return
      probe = { ...probe, isRunning: false, freeAtMs: Math.min(probe.freeAtMs, now()) }
    },
  }
}

interface Probe {
  readonly customerId: string | undefined
  readonly isRunning: boolean
  readonly freeAtMs: number
  /** By its customer. */
  readonly begunBefore: number
}

interface Failures {
  count: number
  /** Undefined if they are of several customers' calls. */
  customerId: string | undefined
}

function noFailures(): Failures {
  return { count: 0, customerId: undefined }
}

function add(to: Failures, customerId: string | undefined): void {
  to.customerId = to.count === 0 || to.customerId === customerId ? customerId : undefined
  to.count += 1
}
