/**
 * Proves all money from its rows: runs the ledger's checks, and checks that the ledger has exactly the amounts of
 * the top-ups and refunds.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import { DELIVERY_CHECKS } from '../ledger/deliveries/discrepancies.ts'
import { audit, type AuditOptions, type AuditReport } from '../ledger/audit/audit.ts'
import { CAUSE_CHECKS } from './audit-causes.ts'

/** The reasons of ledger entries that only top-ups and refunds write. */
export const RETURN_REASONS: readonly string[] = [
  'refund',
  'refund_failed',
  'refund_rejected',
  'chargeback',
  'top_up_returned',
]

const CHECKS: Record<string, RawBuilder<unknown>> = {
  'a live database has no sandbox credit': sandboxMoney(),
  'a paid top-up is credited once, with its amount': sql`
    select t.id, t.customer_id, t.amount_nano_brl, e.amount_nano_brl as credited from top_ups t
    left join ledger_entries e on e.reason = 'top_up' and e.reference = t.id::text
    where (t.paid_at is null) <> (e.id is null)
      or (e.customer_id, e.kind, e.amount_nano_brl) <> (t.customer_id, 'credit', t.amount_nano_brl)`,
  'returned and refunding amounts of top-ups are debited': sql`
    select customer_id, t.gone as of_top_ups, e.gone as in_the_ledger
    from (
      select customer_id, sum(returned_nano_brl + refunding_nano_brl) as gone from top_ups group by 1
    ) t
    full join (
      select customer_id, sum(case kind when 'debit' then amount_nano_brl else -amount_nano_brl end) as gone
      from ledger_entries
      where reason in (${sql.join(RETURN_REASONS)})
      group by 1
    ) e using (customer_id)
    where coalesce(t.gone, 0) <> coalesce(e.gone, 0)`,
  'the refunding amount of a top-up equals the sum of its open refund parts': sql`
    select t.id, t.refunding_nano_brl, p.open from top_ups t
    left join (
      select top_up_id, sum(amount_nano_brl) as open from refund_parts
      where status in ('waiting', 'sent') group by 1
    ) p on p.top_up_id = t.id
    where t.refunding_nano_brl <> coalesce(p.open, 0)`,
  'completed refund parts are included in the returned amount of a top-up': sql`
    select t.id, t.returned_nano_brl, p.ended from top_ups t
    join (
      select top_up_id, sum(amount_nano_brl) as ended from refund_parts
      where status = 'done' group by 1
    ) p on p.top_up_id = t.id
    where p.ended > t.returned_nano_brl`,
  'a refund equals the sum of its parts, and ends with the last of them': sql`
    select r.id, r.amount_nano_brl, p.total from refunds r
    left join (
      select refund_id, sum(amount_nano_brl) as total,
        bool_or(status in ('waiting', 'sent')) as is_open
      from refund_parts group by 1
    ) p on p.refund_id = r.id
    where r.amount_nano_brl is distinct from p.total or (r.ended_at is null) <> p.is_open`,
}

/** Credits that nobody paid, in a live database: deleting the customer's account takes them out of use. */
export async function findSandboxMoney(db: Database): Promise<{ customerId: string }[]> {
  const { rows } = await sql<{ customerId: string }>`
    select distinct customer_id as "customerId" from (${sandboxMoney()}) found`.execute(db)
  return rows
}

function sandboxMoney(): RawBuilder<unknown> {
  return sql`
    select e.id, e.customer_id, e.amount_nano_brl from ledger_entries e
    join customers c on c.id = e.customer_id and c.deleted_at is null
    where e.reason = 'sandbox' and e.kind = 'credit'
      and exists (select 1 from installation where mode = 'live')`
}

export function auditMoney(db: Database, options?: AuditOptions): Promise<AuditReport> {
  const causes = options?.isFull ? CAUSE_CHECKS : {}
  return audit(db, { ...CHECKS, ...DELIVERY_CHECKS, ...causes }, options)
}
