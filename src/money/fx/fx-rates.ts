/**
 * Exchange rates. Of the stored rows that were not withdrawn, the one with the newest date is in force. Every charge
 * names the row that it used. Sandbox mode uses only rows with the source `sandbox`; live mode never uses them.
 */
import { sql, type Selectable } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'
import { dayInBrasilia } from '../../platform/lib/days.ts'

export const JUMP_PERCENT_MAX = 20n

/** Whether the rate differs so much from the other that it is probably a slip. Both times 10^4. */
export function isFarFrom(rateE4: bigint, otherE4: bigint): boolean {
  const jump = rateE4 > otherE4 ? rateE4 - otherE4 : otherE4 - rateE4
  return jump * 100n > otherE4 * JUMP_PERCENT_MAX
}

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
export const MANUAL_SOURCE = 'manual'
/** The channel that notifies all nodes of a new rate. */
export const FX_CHANNEL = 'fx_rates'

/** Stores a rate. Throws for a day in the future: no later rate could replace it until then. */
export async function storeFxRate(db: Database, input: FxRateInput): Promise<FxRate> {
  if (input.rateDate > dayInBrasilia(new Date()))
    throw new Error(`a rate of ${input.rateDate}, which is in the future`)
  const { rows } = await sql<{ id: number }>`
    with stored as (
      insert into fx_rates (rate_e4, rate_date, bulletin_at, source)
      values (${Number(input.rateE4)}, ${input.rateDate}, ${input.bulletinAt}, ${input.source})
      returning id
    )
    select id, pg_notify(${FX_CHANNEL}, id::text) from stored`.execute(db)
  return { ...input, id: (rows[0] as { id: number }).id }
}

/** Returns the newest rate that this mode may use. */
export async function findCurrentFxRate(
  db: Database,
  mode: 'sandbox' | 'live',
): Promise<FxRate | undefined> {
  const row = await ratesByAge(db)
    .where('source', mode === 'sandbox' ? '=' : '<>', SANDBOX_SOURCE)
    .executeTakeFirst()
  return row && toFxRate(row)
}

/** Returns the newest rate of the central bank. */
export async function findOfficialFxRate(db: Database): Promise<FxRate | undefined> {
  const row = await ratesByAge(db)
    .where('source', 'not in', [SANDBOX_SOURCE, MANUAL_SOURCE])
    .executeTakeFirst()
  return row && toFxRate(row)
}

/** Selects the rates that are not withdrawn, the newest first. */
function ratesByAge(db: Database) {
  return db
    .selectFrom('fx_rates')
    .selectAll()
    .where('withdrawn_at', 'is', null)
    .orderBy('rate_date', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
}

export function toFxRate(row: Selectable<Tables['fx_rates']>): FxRate {
  return {
    id: row.id,
    rateE4: BigInt(row.rate_e4),
    rateDate: row.rate_date,
    bulletinAt: row.bulletin_at,
    source: row.source,
  }
}
