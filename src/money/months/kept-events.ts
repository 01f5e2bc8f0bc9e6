import { sql, type RawBuilder } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import { CHARGES_MAX } from '../public-bills/read-public-bill.ts'

/**
 * The ids of archived events of which the table keeps a copy, because something later names them: corrections and debts
 * that were recorded after the month, which the audit compares with them, and public bills, which anybody reads.
 */
export async function findKeptEvents(
  db: Database,
  { fromAt, toAt }: { readonly fromAt: string; readonly toAt: string },
): Promise<string[]> {
  const ofMonth = sql`e.settled_at >= ${fromAt}::timestamptz and e.settled_at < ${toAt}::timestamptz`
  const named = (ids: RawBuilder<unknown>) => sql`
    select e.id from (${ids}) named(id) join usage_events e on e.id = named.id where ${ofMonth}
    union
    select e.id from (${ids}) named(id) join usage_events e on e.corrects_id = named.id where ${ofMonth}`
  const { rows } = await sql<{ id: string }>`
    ${named(sql`select hold_id from charge_corrections where created_at >= ${toAt}::timestamptz`)}
    union
    ${named(sql`select unnest(hold_ids) from account_debts where created_at >= ${toAt}::timestamptz`)}
    union
    ${named(sql`select usage_event_id from public_bills where usage_event_id is not null`)}
    union
    select e.id from public_bills b cross join lateral (
      select e.id, e.settled_at from usage_events e
      where e.customer_id = b.customer_id and e.session_id = b.session_id and e.outcome = 'charged'
      order by e.created_at, e.id limit ${CHARGES_MAX + 1}) e
    where b.session_id is not null and ${ofMonth}`.execute(db)
  return rows.map(({ id }) => id)
}
