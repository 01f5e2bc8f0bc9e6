/**
 * Usage of the last days in the customer's time zone, today included, from the ledger's roll-ups. The cost does not grow
 * with the number of calls: events are read only for an hour that midnight cuts, in time zones with a half-hour offset.
 */
import { sql, type RawBuilder } from 'kysely'
import type { NanoBrl, PicoUsd } from '../../platform/lib/money.ts'

export interface UsageSums {
  /** Charged requests. */
  readonly requests: number
  /** Released requests, which cost nothing. */
  readonly failedRequests: number
  readonly promptTokens: number
  readonly completionTokens: number
  readonly costBilledNanoBrl: NanoBrl
  readonly costUpstreamPicoUsd: PicoUsd
}

/** Sums of sums are strings, because they may exceed an int8. */
export interface SumsRow {
  readonly requests: string
  readonly failed_requests: string
  readonly prompt_tokens: string
  readonly completion_tokens: string
  readonly cost_billed_nano_brl: string
  readonly cost_upstream_pico_usd: string
}

export const NO_USAGE: UsageSums = {
  requests: 0,
  failedRequests: 0,
  promptTokens: 0,
  completionTokens: 0,
  costBilledNanoBrl: 0n,
  costUpstreamPicoUsd: 0n,
}

/** A FROM clause with the rows of `usage_between`; several rows may have the same key and model. */
export function usageOfDays(customerId: string, days: number): RawBuilder<unknown> {
  return sql`customers c, usage_between(c.id, first_day_start(c.timezone, ${days}), 'infinity') u
    where c.id = ${customerId}`
}

const tokenAndCostColumns = sql`sum(u.prompt_tokens) as prompt_tokens, sum(u.completion_tokens) as completion_tokens,
  sum(u.cost_billed_nano_brl) as cost_billed_nano_brl, sum(u.cost_upstream_pico_usd) as cost_upstream_pico_usd`

/** The columns of a `SumsRow` over rows of a roll-up or of `usageOfDays`. */
export const sumColumns = sql`sum(u.charged_requests) as requests, sum(u.released_requests) as failed_requests,
  ${tokenAndCostColumns}`

/** The same columns over usage events. */
export const eventSumColumns = sql`coalesce(sum(event_charges(u.outcome, u.reason)), 0) as requests,
  count(*) filter (where u.outcome = 'released') as failed_requests, ${tokenAndCostColumns}`

export function toSums(row: SumsRow): UsageSums {
  return {
    requests: Number(row.requests),
    failedRequests: Number(row.failed_requests),
    promptTokens: Number(row.prompt_tokens),
    completionTokens: Number(row.completion_tokens),
    costBilledNanoBrl: BigInt(row.cost_billed_nano_brl),
    costUpstreamPicoUsd: BigInt(row.cost_upstream_pico_usd),
  }
}

export function addUp(sums: readonly UsageSums[]): UsageSums {
  return sums.reduce(
    (total, each) => ({
      requests: total.requests + each.requests,
      failedRequests: total.failedRequests + each.failedRequests,
      promptTokens: total.promptTokens + each.promptTokens,
      completionTokens: total.completionTokens + each.completionTokens,
      costBilledNanoBrl: total.costBilledNanoBrl + each.costBilledNanoBrl,
      costUpstreamPicoUsd: total.costUpstreamPicoUsd + each.costUpstreamPicoUsd,
    }),
    NO_USAGE,
  )
}

/** Sorts the most expensive first; at equal cost, the one with more requests. */
export function byCost(left: UsageSums, right: UsageSums): number {
  if (left.costBilledNanoBrl !== right.costBilledNanoBrl)
    return left.costBilledNanoBrl > right.costBilledNanoBrl ? -1 : 1
  return right.requests - left.requests
}
