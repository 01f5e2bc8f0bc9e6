import { sql } from 'kysely'
import type { Database } from '../db/open.ts'

export interface Session {
  readonly id: string
  readonly userId: string
  readonly customerId: string
}

/** A session counts as long as its user's e-mail is the customer's. */
const LIVE = sql`
  from sign_in_sessions s
  join sign_in_users u on u.id = s.user_id and u.is_verified
  join customers c on lower(c.email) = u.email and c.deleted_at is null`

export async function findSession(db: Database, token: string): Promise<Session | undefined> {
  const { rows } = await sql<Session>`
    select s.id, u.id as "userId", c.id as "customerId" ${LIVE}
    where s.token = ${token} and s.expires_at > now()`.execute(db)
  return rows[0]
}

/**
 * Whether a session may still act. While the transaction lasts it does not end: what is made in it until then is
 * there when whoever ends it looks for it.
 */
export async function holdActiveSession(trx: Database, sessionId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 ${LIVE} where s.id = ${sessionId} and s.expires_at > now() for share of s, u`.execute(
    trx,
  )
  return rows.length > 0
}
