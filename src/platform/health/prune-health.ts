import { sql } from 'kysely'
import type { Database } from '../db/open.ts'

/** Longer than the longest window that can be requested. */
const KEPT_DAYS = 100

/** Deletes hours that no request can reach any more; returns the number of deleted rows. */
export async function pruneHealth(db: Database): Promise<number> {
  const result = await sql`
    delete from upstream_health_hours where hour_at < now() - make_interval(days => ${KEPT_DAYS})
  `.execute(db)
  return Number(result.numAffectedRows ?? 0n)
}
