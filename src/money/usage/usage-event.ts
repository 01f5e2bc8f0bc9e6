import { sql, type RawBuilder } from 'kysely'
import { exactTime } from '../../platform/db/exact-time.ts'
import type { NanoBrl, PicoUsd } from '../../platform/lib/money.ts'

/** Stands for an upstream in the events of calls that were answered from the cache of answers. */
export const CACHE_UPSTREAM = 'answer-cache'

/** A charge with all data that explain its amount. */
export interface UsageEvent {
  readonly id: string
  readonly requestId: string
  readonly modelId: string
  readonly apiKeyId: string
  readonly apiKeyName: string | null
  readonly teamId: string | null
  readonly sessionId: string | null
  readonly usageKind: 'exact' | 'estimated' | 'none'
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly cacheWriteTokens: number
  readonly completionTokens: number
  readonly reasoningTokens: number
  /** Quantities besides text tokens, by the names of the catalog's units. */
  readonly units: Readonly<Record<string, number>> | null
  readonly costUpstreamPicoUsd: PicoUsd
  readonly costBilledNanoBrl: NanoBrl
  readonly fxRateE4: bigint
  readonly fxRateDate: string
  readonly fxSource: string
  readonly markupE4: bigint
  /** The event that this one corrects; null for the first outcome of a call. A reversal has negative amounts. */
  readonly correctsId: string | null
  /** To the microsecond, see `exactTime`. */
  readonly createdAt: string
}

export interface UsageEventFilter {
  readonly modelId?: string | undefined
  readonly apiKeyId?: string | undefined
  readonly sessionId?: string | undefined
  /** Exact times; `untilAt` is exclusive. */
  readonly fromAt?: string | undefined
  readonly untilAt?: string | undefined
}

/** How a call ended for the account; `released` ones failed and cost nothing. */
export type CallOutcome = 'charged' | 'released'

/**
 * Adds to rows of `usage_events` the data that explain them, sorted by time. `events` selects whole rows and limits
 * them, so that the joins look up only those.
 */
export function selectUsageEvents<More = unknown>(
  events: RawBuilder<unknown>,
  order: 'asc' | 'desc',
  more: RawBuilder<unknown> = sql``,
): RawBuilder<UsageEvent & More> {
  const direction = sql.raw(order)
  // The columns are named like the fields of `UsageEvent`, so that rows need no conversion.
  return sql<UsageEvent & More>`
    select e.id, e.request_id as "requestId", e.model_id as "modelId", e.api_key_id as "apiKeyId",
      k.name as "apiKeyName", e.team_id as "teamId", e.session_id as "sessionId", e.usage_kind as "usageKind",
      e.prompt_tokens as "promptTokens", e.cached_tokens as "cachedTokens",
      e.cache_write_tokens as "cacheWriteTokens", e.completion_tokens as "completionTokens",
      e.reasoning_tokens as "reasoningTokens", e.units,
      e.cost_upstream_pico_usd as "costUpstreamPicoUsd", e.cost_billed_nano_brl as "costBilledNanoBrl",
      e.fx_rate_e4::int8 as "fxRateE4", f.rate_date as "fxRateDate", f.source as "fxSource",
      e.markup_e4::int8 as "markupE4", e.corrects_id as "correctsId", ${exactTime('e.created_at')} as "createdAt" ${more}
    from (${events}) e
    join fx_rates f on f.id = e.fx_rate_id
    left join api_keys k on k.id = e.api_key_id
    order by e.created_at ${direction}, e.id ${direction}`
}
