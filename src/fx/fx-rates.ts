/**
 * Exchange rates. The stored row with the newest date is in force. Rows are immutable, and every charge names the row
 * that it used. Sandbox mode uses only rows with the source `sandbox`; live mode never uses them.
 */
import { sql } from 'kysely'
import { audited, type Actor } from '../audit-log/audited.ts'
import type { Database } from '../db/open.ts'
import { decimalE4 } from '../lib/money.ts'

export interface FxRate {
  readonly id: number
  /** BRL per USD, times 10^4. */
  readonly rateE4: bigint
  /** The business day of the rate, `YYYY-MM-DD`. */
  readonly rateDate: string
  readonly bulletinAt: Date | null
  readonly source: string
}

export type FxRateInput = Omit<FxRate, 'id'>

export const SANDBOX_SOURCE = 'sandbox'
/** The channel that notifies all nodes of a new rate. */
export const FX_CHANNEL = 'fx_rates'

export async function storeFxRate(db: Database, input: FxRateInput): Promise<FxRate> {
  const { rows } = await sql<{ id: number }>`
    with stored as (
      insert into fx_rates (rate_e4, rate_date, bulletin_at, source)
      values (${Number(input.rateE4)}, ${input.rateDate}, ${input.bulletinAt}, ${input.source})
      returning id
    )
    select id, pg_notify(${FX_CHANNEL}, id::text) from stored`.execute(db)
  return { ...input, id: (rows[0] as { id: number }).id }
}

/** Stores a rate that an operator sets; the next official rate of the same or a later day replaces it. */
export function setFxRate(
  db: Database,
  actor: Actor,
  { note, ...input }: Omit<FxRateInput, 'bulletinAt'> & { readonly note: string | undefined },
): Promise<FxRate> {
  return audited(db, actor, async (trx, record) => {
    const stored = await storeFxRate(trx, { ...input, bulletinAt: null })
    await record({
      action: 'fx_rate.set',
      customerId: null,
      subjectId: String(stored.id),
      details: {
        rate: decimalE4(input.rateE4),
        date: input.rateDate,
        source: input.source,
        note: note ?? null,
      },
    })
    return stored
  })
}

/** The newest rate that this mode may use. */
export async function findCurrentFxRate(
  db: Database,
  mode: 'sandbox' | 'live',
): Promise<FxRate | undefined> {
  const row = await db
    .selectFrom('fx_rates')
    .selectAll()
    .where('source', mode === 'sandbox' ? '=' : '<>', SANDBOX_SOURCE)
    .orderBy('rate_date', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return (
    row && {
      id: row.id,
      rateE4: BigInt(row.rate_e4),
      rateDate: row.rate_date,
      bulletinAt: row.bulletin_at,
      source: row.source,
    }
  )
}
