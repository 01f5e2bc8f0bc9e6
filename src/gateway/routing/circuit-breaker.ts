/**
 * Keeps calls away from a route that fails, and lets one of them try it again after a while.
 *
 *   closed     every call goes
 *   open       none goes, until its time is over; each opening in a row doubles the time
 *   half_open  one call goes: its success closes, its failure opens; after minutes without one it closes
 *
 * It opens after so many failures in a row, or where half of the calls of a window failed: a route that
 * fails every second call would otherwise never open.
 */
export interface CircuitBreaker {
  readonly state: BreakerState
  /** Whether a call may go now. */
  readonly allows: boolean
  /** A call goes. In half-open state it is the one that tries. */
  begin(): void
  succeed(): void
  fail(): void
  /** The call said nothing of the route's health: it was refused for its own faults, or left. */
  abstain(): void
}

export type BreakerState = 'closed' | 'open' | 'half_open'

export interface BreakerOptions {
  /** In a row; 0: it never opens. */
  readonly failures: number
  readonly openMs: number
}

export const DEFAULT_BREAKER: BreakerOptions = { failures: 5, openMs: 5_000 }

const OPEN_MS_MAX = 60_000
const FORGOTTEN_AFTER_MS = 300_000
const WINDOW_MS = 10_000
const WINDOW_CALLS_MIN = 20

export function createCircuitBreaker(
  { failures, openMs }: BreakerOptions,
  now: () => number = () => performance.now(),
): CircuitBreaker {
  let opening = openMs
  let openUntilMs: number | undefined
  let isTrying = false
  let failuresInRow = 0
  let window = { sinceMs: -Infinity, calls: 0, failed: 0 }

  function count(hasFailed: boolean): void {
    if (now() - window.sinceMs > WINDOW_MS) window = { sinceMs: now(), calls: 0, failed: 0 }
    window.calls += 1
    if (hasFailed) window.failed += 1
  }

  function isTooBad(): boolean {
    return (
      failuresInRow >= failures ||
      (window.calls >= WINDOW_CALLS_MIN && window.failed * 2 >= window.calls)
    )
  }

  function open(): void {
    openUntilMs = now() + opening
    opening = Math.min(opening * 2, OPEN_MS_MAX)
    isTrying = false
  }

  function close(): void {
    openUntilMs = undefined
    isTrying = false
    opening = openMs
    failuresInRow = 0
    window = { sinceMs: now(), calls: 0, failed: 0 }
  }

  function stateNow(): BreakerState {
    if (openUntilMs === undefined) return 'closed'
    const overMs = now() - openUntilMs
    if (overMs < 0) return 'open'
    if (overMs < FORGOTTEN_AFTER_MS || isTrying) return 'half_open'
    close()
    return 'closed'
  }

  return {
    get state() {
      return stateNow()
    },
    get allows() {
      const state = stateNow()
      return state === 'closed' || (state === 'half_open' && !isTrying)
    },
    begin() {
      if (openUntilMs !== undefined) isTrying = true
    },
    succeed() {
      failuresInRow = 0
      if (openUntilMs === undefined) count(false)
      else close()
    },
    fail() {
      failuresInRow += 1
      count(true)
      if (failures === 0) return
      // A call that began before the opening and fails after it says nothing new.
      if (openUntilMs === undefined ? isTooBad() : isTrying) open()
    },
    abstain() {
      isTrying = false
    },
  }
}
