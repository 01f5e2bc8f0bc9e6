import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'

/**
 * Locks the customer against deletion until the transaction ends; call it before locking any row of theirs. False when
 * the customer is deleted or is being deleted.
 */
export async function lockAgainstDeletion(trx: Database, customerId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from customers where id = ${customerId} and deleted_at is null
    for key share skip locked`.execute(trx)
  return rows.length > 0
}
