import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'

/**
 * Sums up finished days (UTC), customer by customer, so that a year of usage is read from hundreds of rows and not from
 * thousands. Each customer and month is one short transaction, so calls of other customers do not wait. Returns the
 * number of these transactions.
 */
export async function rollUsageDays(db: Database): Promise<number> {
  let rolled = 0
  for (;;) {
    const { rows } = await sql<{ customer_id: string }>`
      select customer_id from accounts a
      where usage_days_until < date_trunc('day', now(), 'UTC') and exists (
        select 1 from usage_hours h where h.customer_id = a.customer_id
          and h.hour_at >= a.usage_days_until and h.hour_at < date_trunc('day', now(), 'UTC'))
      order by customer_id`.execute(db)
    if (rows.length === 0) return rolled
    for (const { customer_id: customerId } of rows)
      await sql`select roll_usage_days(${customerId})`.execute(db)
    rolled += rows.length
  }
}
