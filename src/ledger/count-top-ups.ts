import type { Database } from '../db/open.ts'

/** Top-ups whose money has come. */
export async function countTopUps(db: Database, customerId: string): Promise<number> {
  const { count } = await db
    .selectFrom('ledger_entries')
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .where('customer_id', '=', customerId)
    .where('kind', '=', 'credit')
    .where('reason', '=', 'top_up')
    .executeTakeFirstOrThrow()
  return Number(count)
}
