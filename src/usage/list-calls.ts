import { sql } from 'kysely'
import { costOf } from '../catalog/prices.ts'
import { findPrices } from '../catalog/register-prices.ts'
import type { Database } from '../db/open.ts'
import { chargeFor, type NanoBrl } from '../lib/money.ts'
import { listOutcomes, type UsageList } from './list-usage-events.ts'
import type { CallOutcome, UsageEvent } from './usage-event.ts'

/** A call that reached a hold: charged, or failed and free. */
export interface Call extends UsageEvent {
  readonly outcome: CallOutcome
  /** Of a failure, in the gateway's own words. */
  readonly reason: string | null
  readonly isStream: boolean
  /** From the request to the model; null where it was not measured. */
  readonly firstByteMs: number | null
  readonly durationMs: number | null
  /** What the cached tokens would have cost more as plain input. */
  readonly cacheSavedNanoBrl: NanoBrl
}

interface CallColumns extends Pick<
  Call,
  'outcome' | 'reason' | 'isStream' | 'firstByteMs' | 'durationMs'
> {
  readonly priceId: number
}

/** The customer's calls, newest first. */
export async function listCalls(
  db: Database,
  list: UsageList,
  outcomes: readonly CallOutcome[],
): Promise<Call[]> {
  const rows = await listOutcomes<CallColumns>(
    db,
    list,
    outcomes,
    sql`, e.outcome, e.reason, e.is_stream as "isStream", e.first_byte_ms as "firstByteMs",
      e.duration_ms as "durationMs", e.price_id as "priceId"`,
  )
  const cached = rows.filter(({ cachedTokens }) => cachedTokens > 0)
  const prices = await findPrices(db, [...new Set(cached.map(({ priceId }) => priceId))])
  return rows.map((row) => {
    const price = row.cachedTokens > 0 ? prices.get(row.priceId) : undefined
    const tokens = { ...row, units: {} }
    const saved = price ? costOf(price, { ...tokens, cachedTokens: 0 }) - costOf(price, tokens) : 0n
    return { ...row, cacheSavedNanoBrl: saved > 0n ? chargeFor(saved, row) : 0n }
  })
}
