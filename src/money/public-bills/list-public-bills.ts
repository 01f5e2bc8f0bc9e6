import { sql } from 'kysely'
import { exactTime } from '../../platform/db/exact-time.ts'
import type { Database } from '../../platform/db/open.ts'
import { toPublicBill, type PublicBill } from './public-bill.ts'

/** Returns the customer's links, newest first. `at`: to the microsecond, for cursors. */
export async function listPublicBills(
  db: Database,
  customerId: string,
  page: { limit: number; before?: { at: string; id: string } | undefined },
): Promise<(PublicBill & { readonly at: string })[]> {
  const { limit, before } = page
  const rows = await db
    .selectFrom('public_bills')
    .selectAll()
    .select(exactTime('created_at').as('at'))
    .where('customer_id', '=', customerId)
    .$if(before !== undefined, (query) =>
      query.where(
        sql<boolean>`(created_at, id) < (${before?.at}::timestamptz, ${before?.id}::uuid)`,
      ),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ ...toPublicBill(row), at: row.at }))
}
