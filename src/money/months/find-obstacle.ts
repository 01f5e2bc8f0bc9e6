/**
 * Why a month may not leave yet. It leaves when nothing can refer to its events again but what is kept of them
 * (`kept-events.ts`, `store-sums.ts`): a correction needs an open hold or a node that still has the call, which end within
 * days; everything that customers see by day or hour reaches back a year at most, and prices, margins and alerts less.
 */
import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import { timeOfId } from '../ledger/deliveries/compare-deliveries.ts'
import { addMonths, boundsOf, type Month } from './month.ts'

/**
 * The newest months that always stay: `GET /usage/by-key` and its like sum up to 365 days, whose first hour some time
 * zones cut.
 */
export const MONTHS_KEPT_MIN = 13

/**
 * Returns the next month to archive: the one after the archived ones, or that of the first seal. Undefined if nothing
 * was sealed yet.
 */
export async function findNextMonth(db: Database): Promise<Month | undefined> {
  const { rows } = await sql<{ month: string | null }>`
    select to_char((case when archived_until() > '-infinity' then archived_until()
      else (select min(from_at) from audit_seals) end) at time zone 'UTC', 'YYYY-MM') as month`.execute(
    db,
  )
  return rows[0]?.month ?? undefined
}

export async function findObstacle(
  db: Database,
  month: Month,
  now: Date,
): Promise<string | undefined> {
  const next = await findNextMonth(db)
  if (next === undefined) return 'nothing is sealed yet: run `audit`'
  if (month < next) return `it is archived, or has no sealed events: the next month is ${next}`
  if (month > next) return `months leave one after the other, and the next one is ${next}`
  const newest = addMonths(now.toISOString().slice(0, 7), -MONTHS_KEPT_MIN)
  if (month > newest)
    return `it is too young: the newest ${MONTHS_KEPT_MIN} months stay, so ${newest} is the last that may leave`
  const { fromAt, toAt } = boundsOf(month)
  const { rows } = await sql<{ obstacle: string }>`
    select 'it is sealed until ' || coalesce(max(to_at)::text, 'never') || ' only: run \`audit\`' as obstacle
    from audit_seals having coalesce(max(to_at), '-infinity') < ${toAt}::timestamptz
    union all
    select 'a seal crosses its beginning or its end: ' || number from audit_seals
    where (from_at < ${fromAt}::timestamptz and to_at > ${fromAt}::timestamptz)
      or (from_at < ${toAt}::timestamptz and to_at > ${toAt}::timestamptz)
    union all
    select 'an event is older than all seals, and so in none: ' || min(id::text) from usage_events
    where settled_at < (select min(from_at) from audit_seals) having count(*) > 0
    union all
    select 'an open hold began before its end: ' || min(id::text) from holds
    where created_at < ${toAt}::timestamptz having count(*) > 0
    union all
    select 'an account is being erased: ' || min(id::text) from customers
    where deleted_at is not null and erased_at is null having count(*) > 0`.execute(db)
  return rows[0]?.obstacle ?? (await findOpenDiscrepancy(db, toAt))
}

/** An answer whose charge differs from what was delivered is still to be corrected. */
async function findOpenDiscrepancy(db: Database, toAt: string): Promise<string | undefined> {
  const rows = await db
    .selectFrom('delivery_discrepancies')
    .select('hold_id')
    .where('resolved_at', 'is', null)
    .execute()
  const found = rows.find(({ hold_id: id }) => timeOfId(id) < Date.parse(toAt))
  return found && `a delivery discrepancy of it is open: ${found.hold_id}`
}
