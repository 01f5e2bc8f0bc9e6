/**
 * Stops calls on a route that fails, and lets a single probe through after a pause.
 *
 *   closed     all calls pass
 *   open       no call passes until the pause is over; each consecutive opening doubles the pause
 *   half_open  one call passes as the probe: its success closes the breaker, its failure opens it again; after five
 *              minutes without a probe the breaker closes
 *
 * The breaker opens after `failures` consecutive failures, or when at least half of the calls in a window of 10 s
 * failed (of 20 calls or more). Without the window, a route that fails every second call would never open it.
 */
export interface CircuitBreaker {
  readonly state: BreakerState
  /** Whether a call may pass now. */
  readonly allows: boolean
  /** Records a started call; when half-open, it is the probe. */
  begin(): void
  succeed(): void
  fail(): void
  /** Ends a call that says nothing about the route's health: the request was at fault, or the client hung up. */
  abstain(): void
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
  let isProbing = false
  let consecutiveFailures = 0
  let window = { sinceMs: -Infinity, calls: 0, failed: 0 }

  function count(hasFailed: boolean): void {
    if (now() - window.sinceMs > WINDOW_MS) window = { sinceMs: now(), calls: 0, failed: 0 }
    window.calls += 1
    if (hasFailed) window.failed += 1
  }

  function mustOpen(): boolean {
    return (
      consecutiveFailures >= failures ||
      (window.calls >= WINDOW_CALLS_MIN && window.failed * 2 >= window.calls)
    )
  }

  function open(): void {
    openUntilMs = now() + pauseMs
    pauseMs = Math.min(pauseMs * 2, OPEN_MS_MAX)
    isProbing = false
  }

  function close(): void {
    openUntilMs = undefined
    isProbing = false
    pauseMs = openMs
    consecutiveFailures = 0
    window = { sinceMs: now(), calls: 0, failed: 0 }
  }

  function stateNow(): BreakerState {
    if (openUntilMs === undefined) return 'closed'
    const overMs = now() - openUntilMs
    if (overMs < 0) return 'open'
    if (overMs < CLOSES_AFTER_MS || isProbing) return 'half_open'
    close()
    return 'closed'
  }

  return {
    get state() {
      return stateNow()
    },
    get allows() {
      const state = stateNow()
      return state === 'closed' || (state === 'half_open' && !isProbing)
    },
    begin() {
      if (openUntilMs !== undefined) isProbing = true
    },
    succeed() {
      consecutiveFailures = 0
      if (openUntilMs === undefined) count(false)
      else close()
    },
    fail() {
      consecutiveFailures += 1
      count(true)
      if (failures === 0) return
      // While open, a failure counts only for the probe: other calls began before the breaker opened.
      if (openUntilMs === undefined ? mustOpen() : isProbing) open()
    },
    abstain() {
      isProbing = false
    },
  }
}
