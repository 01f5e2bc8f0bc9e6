/**
 * Acts on teams, their members and their invitations, each with its audit rows. `teams.ts`, `team-members.ts` and
 * `team-invitations.ts` change the rows alone. An act with a `TeamAccess` runs in the transaction that read the access
 * and locked the team, so that the right still holds.
 */
import { audited, type Actor, type RecordAct } from '../platform/audit-log/audited.ts'
import type { Database } from '../platform/db/open.ts'
import type { TeamRole } from '../platform/db/tables.ts'
import { decimalBrl, type NanoBrl } from '../platform/lib/money.ts'
import { readLimits, recordRevokedKeys, type KeyFacts } from './key-acts.ts'
import { findLimitRefusal, type KeyRefusal } from './key-makers.ts'
import type { TeamAccess } from './team-access.ts'
import { insertInvitation, revokeInvitations } from './team-invitations.ts'
import { deleteTeamMember, updateTeamMember } from './team-members.ts'
import { closeTeam, insertTeam, updateTeam } from './teams.ts'

export function createTeam(
  db: Database,
  actor: Actor,
  input: { ownerId: string; name: string; limitNanoBrl: NanoBrl | null },
): ReturnType<typeof insertTeam> {
  return audited(db, actor, async (trx, record) => {
    const created = await insertTeam(trx, input)
    if (created.kind !== 'created') return created
    const limits = await readLimits(trx, created.id)
    const details = { monthly_cap_brl: capText(input.limitNanoBrl), limits }
    const about = { customerId: input.ownerId, subjectId: created.id }
    await record({ action: 'team.created', ...about, details })
    return created
  })
}

/**
 * Changes a team. `fields` are the names of the changed fields, as the caller's interface calls them; without any,
 * nothing happens. The cap limits what the team may take from the owner's balance, so only the owner changes it.
 */
export function changeTeam(
  db: Database,
  actor: Actor,
  {
    access: { teamId, ownerId, rank },
    change,
    fields,
  }: {
    access: TeamAccess
    change: { name?: string; limitNanoBrl?: NanoBrl | null }
    fields: readonly string[]
  },
): Promise<{ readonly kind: 'changed' } | { readonly kind: 'only_owner' } | KeyRefusal> {
  return audited(db, actor, async (trx, record) => {
    const { limitNanoBrl } = change
    if (limitNanoBrl !== undefined && rank !== 'owner') return { kind: 'only_owner' }
    const refusal = limitNanoBrl === undefined ? undefined : await findLimitRefusal(trx, { actor })
    if (refusal) return refusal
    if (fields.length === 0) return { kind: 'changed' }
    await updateTeam(trx, teamId, change)
    const cap =
      limitNanoBrl === undefined
        ? {}
        : { monthly_cap_brl: capText(limitNanoBrl), limits: await readLimits(trx, teamId) }
    const about = { customerId: ownerId, subjectId: teamId }
    await record({ action: 'team.changed', ...about, details: { fields, ...cap } })
    return { kind: 'changed' }
  })
}

/** Revokes the team's keys and its open invitations too. */
export function deleteTeam(
  db: Database,
  actor: Actor,
  { access }: { access: TeamAccess },
): Promise<void> {
  const { teamId, ownerId } = access
  return audited(db, actor, async (trx, record) => {
    await recordRevoked(trx, record, access, await closeTeam(trx, teamId))
    await record({ action: 'team.deleted', customerId: ownerId, subjectId: teamId })
  })
}

/**
 * Changes the role of a member; one who has the role already keeps it. Returns false for a customer who is not a
 * member.
 */
export function changeTeamMember(
  db: Database,
  actor: Actor,
  { access, customerId, role }: { access: TeamAccess; customerId: string; role: TeamRole },
): Promise<boolean> {
  const { teamId } = access
  return audited(db, actor, async (trx, record) => {
    const changed = await updateTeamMember(trx, { teamId, customerId, role })
    if (!changed) return false
    if (changed.formerRole === role) return true
    const details = { from: changed.formerRole, to: role }
    await recordRevoked(trx, record, access, changed)
    await record({ action: 'team_member.changed', customerId, subjectId: teamId, details })
    return true
  })
}

/**
 * Removes a member, and revokes the member's keys of the team and open invitations to it. Returns false for a customer
 * who is not a member.
 */
export function removeTeamMember(
  db: Database,
  actor: Actor,
  { access, customerId }: { access: TeamAccess; customerId: string },
): Promise<boolean> {
  const { teamId } = access
  return audited(db, actor, async (trx, record) => {
    const removed = await deleteTeamMember(trx, { teamId, customerId })
    if (!removed) return false
    await recordRevoked(trx, record, access, removed)
    await record({ action: 'team_member.removed', customerId, subjectId: teamId })
    return true
  })
}

/** Invites to a team. Only this answer contains the token. */
export function inviteToTeam(
  db: Database,
  actor: Actor,
  {
    access: { teamId, ownerId },
    ...input
  }: { access: TeamAccess; email: string; role: TeamRole; invitedBy: string },
): Promise<Awaited<ReturnType<typeof insertInvitation>> | KeyRefusal> {
  return audited(db, actor, async (trx, record) => {
    const refusal = await findLimitRefusal(trx, { actor })
    if (refusal) return refusal
    const created = await insertInvitation(trx, { teamId, ...input })
    if (created.kind !== 'created') return created
    const details = { team_id: teamId, role: input.role }
    const about = { customerId: ownerId, subjectId: created.invitation.id }
    await record({ action: 'team_invitation.created', ...about, details })
    return created
  })
}

/** Returns the id of the invitation; undefined for one that is not open. */
export function revokeInvitation(
  db: Database,
  actor: Actor,
  { access, invitationId }: { access: TeamAccess; invitationId: string },
): Promise<string | undefined> {
  const { teamId } = access
  return audited(db, actor, async (trx, record) => {
    const revokedInvitationIds = await revokeInvitations(trx, { teamId, invitationId })
    await recordRevoked(trx, record, access, { revokedInvitationIds })
    return revokedInvitationIds[0]
  })
}

/** Records the keys and invitations that ended with a membership, or with the team. */
async function recordRevoked(
  trx: Database,
  record: RecordAct,
  { teamId, ownerId }: TeamAccess,
  revoked: {
    readonly revokedKeys?: readonly KeyFacts[]
    readonly revokedInvitationIds: readonly string[]
  },
): Promise<void> {
  const details = { team_id: teamId }
  await recordRevokedKeys(trx, record, revoked.revokedKeys ?? [], details)
  const about = { customerId: ownerId, details }
  for (const subjectId of revoked.revokedInvitationIds)
    await record({ action: 'team_invitation.revoked', subjectId, ...about })
}

function capText(limit: NanoBrl | null): string | null {
  return limit === null ? null : decimalBrl(limit)
}
