import type { Database } from '../platform/db/open.ts'

/** Whether the customer ever topped up; promotional and manual credit does not count. */
export async function hasToppedUp(trx: Database, customerId: string): Promise<boolean> {
  const row = await trx
    .selectFrom('ledger_entries')
    .select('id')
    .where('customer_id', '=', customerId)
    .where('kind', '=', 'credit')
    .where('reason', '=', 'top_up')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
