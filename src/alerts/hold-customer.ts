import { sql } from 'kysely'
import type { Database } from '../db/open.ts'

/**
 * Keeps the customer from being deleted until the transaction is over, before anything of theirs is locked. False
 * for one who is deleted, or is about to be.
 */
export async function holdCustomer(trx: Database, customerId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from customers where id = ${customerId} and deleted_at is null
    for key share skip locked`.execute(trx)
  return rows.length > 0
}
