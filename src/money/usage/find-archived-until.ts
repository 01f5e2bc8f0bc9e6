import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'

/** Returns the end of the archived months, whose charges no list has; null for an account that is younger. */
export async function findArchivedUntil(db: Database, customerId: string): Promise<string | null> {
  const { rows } = await sql<{ until: Date }>`
    select archived_until() as until from customers
    where id = ${customerId} and created_at < archived_until()`.execute(db)
  return rows[0]?.until.toISOString() ?? null
}
