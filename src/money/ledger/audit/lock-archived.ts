import { sql } from 'kysely'
import type { Database } from '../../../platform/db/open.ts'

/**
 * Locks which months are archived. Until the end of the transaction, no month becomes archived (`to read`), or nobody
 * relies on which are (`to change`).
 */
export async function lockArchived(trx: Database, use: 'to read' | 'to change'): Promise<void> {
  const key = sql`hashtextextended('archived months', 0)`
  await (
    use === 'to read'
      ? sql`select pg_advisory_xact_lock_shared(${key})`
      : sql`select pg_advisory_xact_lock(${key})`
  ).execute(trx)
}
