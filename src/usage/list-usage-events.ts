import type { Database } from '../db/open.ts'
import type { NanoBrl, PicoUsd } from '../lib/money.ts'

/** A charge with everything that explains it. */
export interface UsageEvent {
  readonly id: string
  readonly requestId: string
  readonly modelId: string
  readonly apiKeyId: string
  readonly sessionId: string | null
  readonly usageKind: 'exact' | 'estimated' | 'none'
  readonly promptTokens: number
  readonly completionTokens: number
  /** What was used beside text tokens, by the names of the catalog's units. */
  readonly units: Readonly<Record<string, number>> | null
  readonly costUpstreamPicoUsd: PicoUsd
  readonly costBilledNanoBrl: NanoBrl
  readonly fxRateE4: bigint
  readonly fxRateDate: string
  readonly fxSource: string
  readonly markupE4: bigint
  readonly createdAt: Date
}

/** The customer's charges, newest first. */
export async function listUsageEvents(
  db: Database,
  customerId: string,
  limit: number,
): Promise<UsageEvent[]> {
  const rows = await db
    .selectFrom('usage_events as e')
    .innerJoin('fx_rates as f', 'f.id', 'e.fx_rate_id')
    .selectAll('e')
    .select(['f.rate_date', 'f.source'])
    .where('e.customer_id', '=', customerId)
    .where('e.outcome', '=', 'charged')
    .orderBy('e.created_at', 'desc')
    .orderBy('e.id', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    id: row.id,
    requestId: row.request_id,
    modelId: row.model_id,
    apiKeyId: row.api_key_id,
    sessionId: row.session_id,
    usageKind: row.usage_kind,
    promptTokens: row.prompt_tokens,
    completionTokens: row.completion_tokens,
    units: row.units,
    costUpstreamPicoUsd: row.cost_upstream_pico_usd,
    costBilledNanoBrl: row.cost_billed_nano_brl,
    fxRateE4: BigInt(row.fx_rate_e4),
    fxRateDate: row.rate_date,
    fxSource: row.source,
    markupE4: BigInt(row.markup_e4),
    createdAt: row.created_at,
  }))
}
