import { sql } from 'kysely'
import { exactTime } from '../../platform/db/exact-time.ts'
import type { Database } from '../../platform/db/open.ts'

/** A period of whole days in the customer's time zone; today ends now. */
export interface UsagePeriod {
  readonly timezone: string
  /** `YYYY-MM-DD`, both inclusive. */
  readonly from: string
  readonly to: string
  /** The same as exact times; `untilAt` is exclusive. */
  readonly fromAt: string
  readonly untilAt: string
}

/** The length of the period up to `to` if no first day is given. */
const DAYS_DEFAULT = 30

/**
 * Returns the period between two days, which must exist. If the requested `from` is after `to`, the period is empty.
 */
export async function findUsagePeriod(
  db: Database,
  customerId: string,
  asked: { from?: string | undefined; to?: string | undefined },
): Promise<UsagePeriod> {
  const { rows } = await sql<UsagePeriod>`
    with customer as (
      select timezone, coalesce(${asked.to ?? null}::date, (now() at time zone timezone)::date) as to_day
      from customers where id = ${customerId}
    ), days as (
      select timezone, to_day, coalesce(${asked.from ?? null}::date, to_day - ${DAYS_DEFAULT - 1}::int4) as from_day
      from customer
    ), bounds as (
      select days.*, from_day::timestamp at time zone timezone as from_at,
        least((to_day + 1)::timestamp at time zone timezone, now()) as until_at
      from days
    )
    select timezone, from_day as "from", to_day as "to",
      ${exactTime('from_at')} as "fromAt", ${exactTime('until_at')} as "untilAt"
    from bounds`.execute(db)
  const [period] = rows
  if (!period) throw new Error('the customer of a caller exists')
  return period
}

/** Returns the end of the archived months, whose charges no list has; null for an account that is younger. */
export async function findArchivedUntil(db: Database, customerId: string): Promise<string | null> {
  const { rows } = await sql<{ until: Date }>`
    select archived_until() as until from customers
    where id = ${customerId} and created_at < archived_until()`.execute(db)
  return rows[0]?.until.toISOString() ?? null
}
