import { sql } from 'kysely'
import { inTransaction, type Database } from './open.ts'

/**
 * Runs `work` in a transaction whose statements may take longer than those of a request: background work over many
 * rows.
 */
export function withoutTimeout<Result>(
  db: Database,
  work: (trx: Database) => Promise<Result>,
): Promise<Result> {
  return inTransaction(db, async (trx) => {
    await sql`set local statement_timeout = 0`.execute(trx)
    return work(trx)
  })
}
