/**
 * Invitations to a team. An invitation is for one e-mail and has a token, which is shown once and stored as a hash.
 * Accepting needs both, so that neither a misdirected mail nor a guessed address gives access. A customer who has
 * verified the e-mail by signing in needs no token, which would prove the same again.
 */
import { sql } from 'kysely'
import { audited, type Actor } from '../platform/audit-log/audited.ts'
import type { Database } from '../platform/db/open.ts'
import type { TeamRole } from '../platform/db/tables.ts'
import { createId, isUuid, randomText, sha256 } from '../platform/lib/ids.ts'
import { hasToppedUp } from './has-topped-up.ts'
import { mailboxOf } from '../platform/lib/mailbox.ts'
import { limitAttempts, type Limit } from '../platform/admission/attempts.ts'

const DAY = 86_400

/**
 * An invitation mails a stranger: the counts include revoked ones, and those of deleted accounts. `free` counts the
 * invitations of all inviters who never topped up: with many free accounts nobody uses up those of the others.
 */
const LIMITS: Readonly<Record<'team' | 'inviter' | 'recipient' | 'free', Limit>> = {
  team: { max: 100, seconds: DAY },
  inviter: { max: 100, seconds: DAY },
  recipient: { max: 5, seconds: DAY },
  free: { max: 5_000, seconds: DAY },
}

/**
 * Counts an invitation in the caller's transaction, so that one that is not sent counts for nothing. Returns undefined
 * within the limits, or else the seconds until the next one is allowed. Concurrent callers lock the counts in this
 * order.
 */
export async function limitInvitations(
  trx: Database,
  { teamId, invitedBy, email }: { teamId: string; invitedBy: string; email: string },
): Promise<number | undefined> {
  const counts: (readonly [string, Limit])[] = [
    [`invitation by team ${teamId}`, LIMITS.team],
    [`invitation by ${invitedBy}`, LIMITS.inviter],
    [`invitation to ${mailboxOf(email)}`, LIMITS.recipient],
    ...((await hasToppedUp(trx, invitedBy)) ? [] : ([['invitation', LIMITS.free]] as const)),
  ]
  for (const [key, limit] of counts) {
    const retryAfter = await limitAttempts(trx, key, limit)
    if (retryAfter !== undefined) return retryAfter
  }
  return undefined
}

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

export const OPEN_INVITATIONS_MAX = 50
export const INVITATION_DAYS = 7
/** 190 bits, too many to guess, so a plain SHA-256 protects the token. */
const TOKEN_LENGTH = 32

export interface TeamInvitation {
  readonly id: string
  readonly teamId: string
  readonly email: string
  readonly role: TeamRole
  readonly invitedBy: string
  readonly createdAt: Date
  readonly expiresAt: Date
}

/** An invitation in the form that the invited customer sees. */
export interface ReceivedInvitation {
  readonly id: string
  readonly teamName: string
  readonly ownerName: string
  readonly role: TeamRole
  readonly createdAt: Date
  readonly expiresAt: Date
}

/**
 * Stores an invitation. The caller must have locked the team. Returns the token, which is not stored and cannot be read
 * again.
 */
export async function insertInvitation(
  trx: Database,
  input: { teamId: string; email: string; role: TeamRole; invitedBy: string },
): Promise<
  | { kind: 'created'; invitation: TeamInvitation; token: string }
  | { kind: 'already_member' }
  | { kind: 'already_invited' }
  | { kind: 'too_many_invitations' }
  | { kind: 'invitation_limit_reached'; retryAfter: number }
> {
  const email = input.email.toLowerCase()
  if (await isOfTeam(trx, input.teamId, email)) return { kind: 'already_member' }
  const open = await listInvitations(trx, input.teamId)
  if (open.some((invitation) => invitation.email === email)) return { kind: 'already_invited' }
  if (open.length >= OPEN_INVITATIONS_MAX) return { kind: 'too_many_invitations' }
  const retryAfter = await limitInvitations(trx, input)
  if (retryAfter !== undefined) return { kind: 'invitation_limit_reached', retryAfter }
  const token = randomText(TOKEN_LENGTH)
  const row = await trx
    .insertInto('team_invitations')
    .values({
      id: createId(),
      team_id: input.teamId,
      email,
      role: input.role,
      token_hash: sha256(token),
      invited_by: input.invitedBy,
      expires_at: sql<Date>`now() + make_interval(days => ${INVITATION_DAYS}::int)`,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return { kind: 'created', invitation: toInvitation(row), token }
}

/** Lists open invitations, newest first. */
export async function listInvitations(db: Database, teamId: string): Promise<TeamInvitation[]> {
  const rows = await db
    .selectFrom('team_invitations as i')
    .selectAll()
    .where('i.team_id', '=', teamId)
    .where(isOpen)
    .orderBy('i.created_at', 'desc')
    .orderBy('i.id', 'desc')
    .execute()
  return rows.map(toInvitation)
}

/** Lists open invitations to the customer's e-mail, newest first. */
export async function listReceivedInvitations(
  db: Database,
  customerId: string,
  limit: number,
): Promise<ReceivedInvitation[]> {
  const rows = await db
    .selectFrom('team_invitations as i')
    .innerJoin('teams as t', 't.id', 'i.team_id')
    .innerJoin('customers as owner', 'owner.id', 't.customer_id')
    .innerJoin('customers as me', (join) =>
      join.on('i.email', '=', sql<string>`lower(me.email)`).on('me.id', '=', customerId),
    )
    .select(['i.id', 'i.role', 'i.created_at', 'i.expires_at'])
    .select(['t.name as team_name', 'owner.name as owner_name'])
    .where(isOpen)
    .where('t.deleted_at', 'is', null)
    .orderBy('i.created_at', 'desc')
    .orderBy('i.id', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    id: row.id,
    teamName: row.team_name,
    ownerName: row.owner_name,
    role: row.role,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  }))
}

/** Revokes open invitations of the whole team, of one inviting customer, or a single one. Returns their ids. */
export async function revokeInvitations(
  db: Database,
  which: { teamId: string; invitedBy?: string | undefined; invitationId?: string | undefined },
): Promise<string[]> {
  if (which.invitationId !== undefined && !isUuid(which.invitationId)) return []
  const rows = await db
    .updateTable('team_invitations as i')
    .set({ revoked_at: sql<Date>`now()` })
    .where('i.team_id', '=', which.teamId)
    .where(isOpen)
    .$if(which.invitedBy !== undefined, (query) =>
      query.where('i.invited_by', '=', which.invitedBy as string),
    )
    .$if(which.invitationId !== undefined, (query) =>
      query.where('i.id', '=', which.invitationId as string),
    )
    .returning('i.id')
    .execute()
  return rows.map(({ id }) => id)
}

/** The invited customer declines. Returns undefined if there is no such open invitation to the customer's e-mail. */
export async function declineInvitation(
  db: Database,
  actor: Actor,
  { invitationId, customerId }: { invitationId: string; customerId: string },
): Promise<{ teamId: string } | undefined> {
  if (!isUuid(invitationId)) return undefined
  return audited(db, actor, async (trx, record) => {
    const declined = await endReceived(trx, { invitationId, customerId })
    if (!declined) return undefined
    const act = { action: 'team_invitation.declined', customerId, subjectId: invitationId } as const
    await record({ ...act, details: { team_id: declined.teamId } })
    return declined
  })
}

async function endReceived(
  trx: Database,
  { invitationId, customerId }: { invitationId: string; customerId: string },
): Promise<{ teamId: string } | undefined> {
  const { rows } = await sql<{ teamId: string }>`
    update team_invitations i set revoked_at = now()
    from customers me
    where i.id = ${invitationId} and me.id = ${customerId} and i.email = lower(me.email) and ${isOpen()}
    returning i.team_id as "teamId"`.execute(trx)
  return rows[0]
}

function isOpen() {
  return sql<boolean>`i.accepted_at is null and i.revoked_at is null and i.expires_at > now()`
}

/** Whether the e-mail is the owner's or a member's. */
async function isOfTeam(db: Database, teamId: string, email: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from customers c
    where lower(c.email) = ${email} and (
      c.id = (select customer_id from teams where id = ${teamId})
      or c.id in (select customer_id from team_members where team_id = ${teamId}))`.execute(db)
  return rows.length > 0
}

function toInvitation(row: {
  id: string
  team_id: string
  email: string
  role: TeamRole
  invited_by: string
  created_at: Date
  expires_at: Date
}): TeamInvitation {
  return {
    id: row.id,
    teamId: row.team_id,
    email: row.email,
    role: row.role,
    invitedBy: row.invited_by,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  }
}
