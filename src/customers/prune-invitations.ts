import { sql } from 'kysely'
import type { Database } from '../platform/db/open.ts'

/** An ended invitation explains itself to a team for a while; the audit log keeps the acts. */
const DAYS_KEPT = 90

/** Deletes invitations that were accepted, revoked or expired long ago: each has the e-mail of a third person. */
export async function pruneInvitations(db: Database): Promise<void> {
  await sql`
    delete from team_invitations
    where coalesce(accepted_at, revoked_at, expires_at) < now() - make_interval(days => ${DAYS_KEPT})`.execute(
    db,
  )
}
