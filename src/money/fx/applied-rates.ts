import { sql } from 'kysely'
import { within } from '../../platform/lib/within.ts'
import type { Database } from '../../platform/db/open.ts'
import { SANDBOX_SOURCE, findCurrentFxRate, type FxRate } from './fx-rates.ts'

/** The exchange rate in force, cached in this process, so that calls do not read it from the database. */
export interface FxRateView {
  current(): FxRate | undefined
  /**
   * Reads the rate again. If two reloads overlap, the one that started later wins, whichever ends first. Rejects if the
   * database does not answer within 10 s; the rate then stays unchanged.
   */
  reload(): Promise<void>
}

/** A half-open connection never answers, and would block the next reload. */
const READ_MS_MAX = 10_000

export function createFxRateView(
  db: Database,
  mode: 'sandbox' | 'live',
  first: FxRate | undefined,
): FxRateView {
  let rate = first
  let begun = 0
  let applied = 0
  return {
    current: () => rate,
    async reload() {
      const turn = ++begun
      const found = await within(READ_MS_MAX, findCurrentFxRate(db, mode))
      if (turn < applied) return
      applied = turn
      rate = found ?? rate
    },
  }
}

export interface AppliedRate {
  readonly id: number
  readonly rateE4: bigint
  readonly rateDate: string
  readonly bulletinAt: Date | null
  readonly source: string
  readonly isSandbox: boolean
  /** Null if a rate of a later day was already in force when this one was stored: no charge used it. */
  readonly appliedFrom: Date | null
  /** Null for the rate in force. */
  readonly appliedUntil: Date | null
}

/**
 * Returns the rates of a mode, the newest day first, with the period in which charges used each. A rate is in force
 * from the moment it is stored until a rate of the same or a later day is stored, or until it is withdrawn, by the rule
 * of `findCurrentFxRate`, which charges use. There is about one row per business day.
 */
export async function listAppliedRates(
  db: Database,
  mode: 'sandbox' | 'live',
  filter: { from?: string | undefined; to?: string | undefined; limit: number },
): Promise<AppliedRate[]> {
  const { rows } = await sql<{
    id: number
    rate_e4: number
    rate_date: string
    bulletin_at: Date | null
    source: string
    applied_from: Date | null
    applied_until: Date | null
  }>`
    with stored as (
      select *, max(rate_date) filter (where withdrawn_at is null)
        over (order by id rows between unbounded preceding and 1 preceding) as newest_before
      from fx_rates where (source = ${SANDBOX_SOURCE}) = ${mode === 'sandbox'}
    ), applied as (
      select id, least(withdrawn_at, lead(created_at) over (order by id)) as applied_until from stored s
      where rate_date >= coalesce(newest_before, rate_date) and not exists (
        select from stored w where w.withdrawn_at > s.created_at and w.id < s.id and w.rate_date > s.rate_date
      )
    )
    select s.id, s.rate_e4, s.rate_date, s.bulletin_at, s.source, a.applied_until,
      case when a.id is not null then s.created_at end as applied_from
    from stored s left join applied a using (id)
    where s.rate_date >= ${filter.from ?? '-infinity'}::date and s.rate_date <= ${filter.to ?? 'infinity'}::date
    order by s.rate_date desc, s.id desc limit ${filter.limit}`.execute(db)
  return rows.map((row) => ({
    id: row.id,
    rateE4: BigInt(row.rate_e4),
    rateDate: row.rate_date,
    bulletinAt: row.bulletin_at,
    source: row.source,
    isSandbox: row.source === SANDBOX_SOURCE,
    appliedFrom: row.applied_from,
    appliedUntil: row.applied_until,
  }))
}
