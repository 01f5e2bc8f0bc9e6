import { sql } from 'kysely'
import type { Database } from '../platform/db/open.ts'

/** Longer than the longest period of a report. */
const DAYS_KEPT = 400

/** Deletes counts that no report can reach any more; returns the number of deleted rows. */
export async function pruneShieldCounts(db: Database): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from shield_counts where day < (now() - make_interval(days => ${DAYS_KEPT}))::date`.execute(
    db,
  )
  return Number(numAffectedRows)
}
