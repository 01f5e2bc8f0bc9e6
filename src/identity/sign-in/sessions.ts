import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import { recordPausedKeys } from '../../customers/key-acts.ts'
import { pauseKeys } from '../../customers/pause-keys.ts'
import { deleteAutomaticTopUp } from '../../money/payments/automatic-top-ups.ts'

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

export interface Session {
  readonly id: string
  readonly userId: string
  readonly customerId: string
  /** In lower case. */
  readonly email: string
  /** True if the user proved their identity within the last ten minutes. */
  readonly isProved: boolean
  /** True if the user has shown a second factor in this session: a passkey, or a code. */
  readonly hasFactor: boolean
}

/** The time to enter a code after the password, and the time for which a proof of identity counts. */
const MOMENT = sql`interval '10 minutes'`

/** A session is valid only while its user's e-mail is the customer's. */
const OF_CUSTOMER = sql`
  from sign_in_sessions s
  join sign_in_users u on u.id = s.user_id and u.is_verified
  join customers c on lower(c.email) = u.email and c.deleted_at is null`

const COLUMNS = sql`
  s.id, u.id as "userId", c.id as "customerId", u.email, s.proved_at > now() - ${MOMENT} as "isProved",
  s.factor_at is not null as "hasFactor"`

export async function findSession(db: Database, token: string): Promise<Session | undefined> {
  const { rows } = await sql<Session>`
    select ${COLUMNS} ${OF_CUSTOMER}
    where s.token = ${token} and s.expires_at > now() and not s.awaits_factor`.execute(db)
  return rows[0]
}

/** Finds a session of the last ten minutes that may not act before its user enters a code. */
export async function findWaitingSession(
  db: Database,
  token: string,
): Promise<Session | undefined> {
  const { rows } = await sql<Session>`
    select ${COLUMNS} ${OF_CUSTOMER}
    where s.token = ${token} and s.created_at > now() - ${MOMENT} and s.awaits_factor`.execute(db)
  return rows[0]
}

/**
 * Returns true if the session may still act, and keeps it alive until the end of the transaction. A transaction that
 * ends the session therefore sees everything that the session has created.
 */
export async function holdActiveSession(trx: Database, sessionId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 ${OF_CUSTOMER} where s.id = ${sessionId} and s.expires_at > now() and not s.awaits_factor
    for share of s, u`.execute(trx)
  return rows.length > 0
}

/**
 * Call it once the user has entered a code, or proved their identity again by it or by the password. Returns false if the
 * session has ended.
 */
export async function markProved(
  trx: Database,
  { sessionId, byCode }: { readonly sessionId: string; readonly byCode: boolean },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update sign_in_sessions set awaits_factor = false, proved_at = now(), updated_at = now(),
      factor_at = case when ${byCode}::boolean then now() else factor_at end
    where id = ${sessionId} and expires_at > now()`.execute(trx)
  return numAffectedRows === 1n
}

/** Forgets that the user's sessions showed a second factor. From then on they are those of a customer. */
export async function forgetFactor(trx: Database, userId: string): Promise<void> {
  await trx
    .updateTable('sign_in_sessions')
    .set({ factor_at: null })
    .where('user_id', '=', userId)
    .execute()
}

export interface ListedSession {
  readonly id: string
  readonly userAgent: string | null
  readonly ip: string | null
  readonly createdAt: Date
}

/** Returns the user's sessions, the newest first, at most 200. */
export async function listSessions(db: Database, userId: string): Promise<ListedSession[]> {
  const { rows } = await sql<ListedSession>`
    select id, nullif(user_agent, '') as "userAgent", nullif(ip, '') as ip, created_at as "createdAt"
    from sign_in_sessions
    where user_id = ${userId} and expires_at > now() and not awaits_factor
    order by created_at desc, id desc limit 200`.execute(db)
  return rows
}

/** Returns false if the user has no such session. */
export async function deleteSession(
  trx: Database,
  { userId, id }: { readonly userId: string; readonly id: string },
): Promise<boolean> {
  const deleted = await trx
    .deleteFrom('sign_in_sessions')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return deleted.numDeletedRows === 1n
}

/** Returns the number of deleted sessions. Deletes sessions that wait for a code, too. */
export async function deleteOtherSessions(trx: Database, session: Session): Promise<number> {
  const deleted = await trx
    .deleteFrom('sign_in_sessions')
    .where('user_id', '=', session.userId)
    .where('id', '!=', session.id)
    .executeTakeFirst()
  return Number(deleted.numDeletedRows)
}

/** Ends the login sessions of the customer except `keptId`, also those that wait for a code. Returns their number. */
export async function endSessionsOf(
  trx: Database,
  customerId: string,
  keptId: string | undefined,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from sign_in_sessions where id in (
      select s.id ${OF_CUSTOMER} where c.id = ${customerId})
      and id is distinct from ${keptId ?? null}`.execute(trx)
  return Number(numAffectedRows)
}

/** Returns the ids of those of the sessions that may still act. */
export async function listActiveSessionIds(
  db: Database,
  sessionIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    select s.id ${OF_CUSTOMER}
    where s.id = any(${sessionIds}::uuid[]) and s.expires_at > now() and not s.awaits_factor`.execute(
    db,
  )
  return new Set(rows.map(({ id }) => id))
}

interface StoppedAccount {
  readonly pausedKeys: number
  readonly endedSessions: number
  /** They were on. */
  readonly isAutomaticTopUpOff: boolean
}

/** Pauses all keys, turns automatic top-ups off, and ends all login sessions but the actor's, in one transaction. */
export function stopAccount(
  db: Database,
  actor: Actor,
  { customerId }: { readonly customerId: string },
): Promise<StoppedAccount> {
  return audited(db, actor, async (trx, record) => {
    const keys = await pauseKeys(trx, { customerId }, 'owner')
    await recordPausedKeys(trx, record, keys, 'owner')
    const automatic = await deleteAutomaticTopUp(trx, actor, { customerId })
    const endedSessions = await endSessionsOf(trx, customerId, actor.sessionId)
    const details = { paused_keys: keys.length, ended_sessions: endedSessions }
    await record({ action: 'account.stopped', customerId, subjectId: customerId, details })
    return { pausedKeys: keys.length, endedSessions, isAutomaticTopUpOff: automatic !== undefined }
  })
}

/** Writes the row of the audit log once the login session may act for the customer. */
export async function recordSessionStarted(
  db: Database,
  customerId: string,
  ip: string | undefined,
): Promise<void> {
  const actor = { kind: 'customer', customerId, ...(ip ? { ip } : {}) } as const
  await audited(db, actor, (_trx, record) =>
    record({ action: 'session.started', customerId, subjectId: customerId }),
  )
}

/** Starts a waiting session after a right code. Returns false if it has ended meanwhile. */
export async function startWaitingSession(
  db: Database,
  { id, customerId }: Session,
  ip: string,
): Promise<boolean> {
  const actor = { kind: 'customer', customerId, sessionId: id, ip } as const
  return audited(db, actor, async (trx, record) => {
    if (!(await markProved(trx, { sessionId: id, byCode: true }))) return false
    await record({ action: 'session.started', customerId, subjectId: customerId })
    return true
  })
}
