import { readRetryAfter } from '../../platform/lib/read-retry-after.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/**
 * The pause before each try, counted from the previous one: three days in all, as Standard Webhooks proposes.
 */
const STEPS_MS = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
] as const
export const TRIES_MAX = STEPS_MS.length

/**
 * Statuses by which a receiver asks for more time: too many requests, and gateways whose server is unavailable.
 */
const SLOW_DOWN = new Set([429, 502, 504])
/** So that attempts that failed together are not retried together. */
const JITTER = 0.2

export interface FailedTry {
  /** 1 for the first try. */
  readonly tryNumber: number
  readonly httpStatus: number | undefined
  readonly retryAfter: string | undefined
}

/**
 * Returns the pause before the next try in milliseconds; undefined after the last one. A receiver that asks for time
 * gets up to twice the step and never less than the step.
 */
export function pauseAfter(
  failed: FailedTry,
  at: Date,
  random: () => number = Math.random,
): number | undefined {
  const stepMs = STEPS_MS[failed.tryNumber]
  if (stepMs === undefined) return undefined
  const askedMs = SLOW_DOWN.has(failed.httpStatus ?? 0)
    ? readRetryAfter(failed.retryAfter, at)
    : undefined
  const pauseMs = askedMs ?? stepMs * (1 + JITTER * random())
  return Math.round(Math.min(Math.max(pauseMs, stepMs), 2 * stepMs))
}
