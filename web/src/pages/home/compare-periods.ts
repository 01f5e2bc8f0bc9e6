/** Compares the last days with as many before them, from daily sums. */
import type { Answer } from '../../api/client.ts'

export type DayUsage = Answer<'get', '/usage/by-day'>['by_day'][number]
export type Latency = Answer<'get', '/usage/by-day'>['latency']

export interface PeriodSums {
  readonly requests: number
  readonly failedRequests: number
  /** BRL, for display. */
  readonly spent: number
  readonly tokens: number
}

export interface Comparison {
  readonly days: readonly DayUsage[]
  readonly now: PeriodSums
  readonly before: PeriodSums
}

export function comparePeriods(byDay: readonly DayUsage[], length: number): Comparison {
  const days = byDay.slice(-length)
  return { days, now: addUp(days), before: addUp(byDay.slice(-2 * length, -length)) }
}

function addUp(days: readonly DayUsage[]): PeriodSums {
  return days.reduce(
    (sums, day) => ({
      requests: sums.requests + day.requests,
      failedRequests: sums.failedRequests + day.failed_requests,
      spent: sums.spent + day.cost_billed_brl,
      tokens: sums.tokens + day.prompt_tokens + day.completion_tokens,
    }),
    { requests: 0, failedRequests: 0, spent: 0, tokens: 0 },
  )
}
