import { sql } from 'kysely'
import type { Database } from '../db/open.ts'

const MONTHS_AHEAD = 3

/** Makes the partitions of this month and the next ones. */
export async function ensureMonths(db: Database): Promise<void> {
  await sql`select ensure_usage_partitions(${MONTHS_AHEAD})`.execute(db)
}
