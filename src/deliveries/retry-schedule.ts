/** When a delivery that failed is tried again. */
import { readRetryAfter } from '../platform/lib/read-retry-after.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

export interface RetrySchedule {
  /** The pause after the first failure, the second, and so on. */
  readonly stepsMs: readonly number[]
  /** The last step is the pause after every later failure too; otherwise the delivery is given up. */
  readonly isEndless: boolean
  /** Pauses are longer by up to this part, so that deliveries that failed together are not tried again together. */
  readonly jitter: number
  /** The longest pause that a receiver gets that asks for time. */
  readonly askedMaxMs: (stepMs: number) => number
}

/** A day in all. Few mails are sent at once, whenever they are due, and no mail server says when to come again. */
export const MAIL_RETRIES: RetrySchedule = {
  stepsMs: [1, 10, 60, 240, 1_080].map((minutes) => minutes * MINUTE_MS),
  isEndless: false,
  jitter: 0,
  askedMaxMs: () => 0,
}

/** Three days in all, as Standard Webhooks proposes. */
export const WEBHOOK_RETRIES: RetrySchedule = {
  stepsMs: [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].map(
    (seconds) => seconds * SECOND_MS,
  ),
  isEndless: false,
  jitter: 0.2,
  askedMaxMs: (stepMs) => 2 * stepMs,
}

/** A destination keeps its place in the charges, so none of its pauses is the last one. */
export const USAGE_RETRIES: RetrySchedule = {
  stepsMs: [10, 30, 120, 600, 1_800, 3_600].map((seconds) => seconds * SECOND_MS),
  isEndless: true,
  jitter: 0.2,
  askedMaxMs: () => HOUR_MS,
}

export interface FailedDelivery {
  /** How often it failed in a row, this time included. */
  readonly failures: number
  /** `Retry-After`, where the receiver may ask for time: it gets no less than the step. */
  readonly retryAfter?: string | undefined
  readonly at?: Date
  readonly random?: (() => number) | undefined
}

/** Returns the pause before the next try in milliseconds; undefined when the delivery is given up. */
export function pauseAfter(
  { stepsMs, isEndless, jitter, askedMaxMs }: RetrySchedule,
  { failures, retryAfter, at = new Date(), random = Math.random }: FailedDelivery,
): number | undefined {
  const stepMs = stepsMs[isEndless ? Math.min(failures, stepsMs.length) - 1 : failures - 1]
  if (stepMs === undefined) return undefined
  const askedMs = Math.min(readRetryAfter(retryAfter, at) ?? 0, askedMaxMs(stepMs))
  return Math.round(Math.max(stepMs, askedMs) * (1 + jitter * random()))
}
