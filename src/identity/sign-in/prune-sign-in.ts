import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'

/** A user who has not verified the e-mail by then is deleted, and can sign up again. */
const UNPROVED_DAYS = 7

export async function pruneSignIn(db: Database): Promise<void> {
  await sql`
    delete from sign_in_sessions
    where expires_at < now() or (awaits_factor and created_at < now() - interval '1 hour')`.execute(
    db,
  )
  await sql`delete from sign_in_verifications where expires_at < now()`.execute(db)
  await sql`delete from sign_in_attempts where ends_at < now()`.execute(db)
  await sql`
    delete from sign_in_users
    where not is_verified and created_at < now() - make_interval(days => ${UNPROVED_DAYS})`.execute(
    db,
  )
}
