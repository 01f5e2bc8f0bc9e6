import { sql } from 'kysely'
import type { Database } from '../platform/db/open.ts'

/** Longer than any provider retries; the signature check refuses later replays as too old. */
const DAYS_KEPT = 14

export async function pruneAuthEvents(db: Database): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from auth_events where received_at < now() - make_interval(days => ${DAYS_KEPT})`.execute(
    db,
  )
  return Number(numAffectedRows)
}
