import { sql } from 'kysely'
import { audited, type Actor } from '../platform/audit-log/audited.ts'
import type { Database } from '../platform/db/open.ts'
import type { TeamRole } from '../platform/db/tables.ts'
import { isUuid, sha256 } from '../platform/lib/ids.ts'
import { findTeamAccess } from './team-access.ts'
import { addTeamMember } from './team-members.ts'

/** The token from the mail, or the id if the customer has verified the invited e-mail by signing in. */
export type InvitationProof = { readonly token: string } | { readonly invitationId: string }

export type Accepted =
  | {
      readonly kind: 'joined'
      readonly invitationId: string
      readonly teamId: string
      readonly teamName: string
      readonly ownerId: string
      readonly role: TeamRole
    }
  | { readonly kind: 'invitation_not_found' | 'already_member' | 'too_many_members' }
  /** Without the token: the customer has not proved that the e-mail is theirs. */
  | { readonly kind: 'email_not_proved' }

interface Acceptance {
  readonly proof: InvitationProof
  readonly customerId: string
  /** Asked for an acceptance without the token. */
  readonly hasProvedEmail: (trx: Database, customerId: string) => Promise<boolean>
}

/**
 * Lets the customer join the team. Of concurrent calls with the same proof, one finds the invitation open. An
 * invitation that the customer cannot accept stays open, so this must not run inside a transaction of the caller.
 */
export function acceptInvitation(
  db: Database,
  actor: Actor,
  { proof, customerId, hasProvedEmail }: Acceptance,
): Promise<Accepted> {
  return audited(db, actor, async (trx, record, undo) => {
    const accepted = await join(trx, { proof, customerId })
    if (accepted.kind === 'invitation_not_found') return undo(accepted)
    if ('invitationId' in proof && !(await hasProvedEmail(trx, customerId)))
      return undo({ kind: 'email_not_proved' })
    if (accepted.kind !== 'joined') return undo(accepted)
    const { teamId, role, invitationId } = accepted
    await record({
      action: 'team_invitation.accepted',
      customerId,
      subjectId: invitationId,
      details: { team_id: teamId },
    })
    await record({
      action: 'team_member.joined',
      customerId,
      subjectId: teamId,
      details: { role },
    })
    return accepted
  })
}

async function join(
  trx: Database,
  { proof, customerId }: Pick<Acceptance, 'proof' | 'customerId'>,
): Promise<Exclude<Accepted, { kind: 'email_not_proved' }>> {
  if ('invitationId' in proof && !isUuid(proof.invitationId))
    return { kind: 'invitation_not_found' }
  const isIt =
    'token' in proof
      ? sql`i.token_hash = ${sha256(proof.token)}`
      : sql`i.id = ${proof.invitationId}`
  // The team is locked first, as in every transaction; different orders would deadlock.
  const { rows: teams } = await sql<{ id: string; name: string; customer_id: string }>`
    select t.id, t.name, t.customer_id from teams t
    where t.id = (select i.team_id from team_invitations i where ${isIt})
      and t.deleted_at is null
    for no key update`.execute(trx)
  const [team] = teams
  if (!team) return { kind: 'invitation_not_found' }
  const { rows } = await sql<{ id: string; role: TeamRole }>`
    update team_invitations i set accepted_at = now()
    from customers me
    where ${isIt} and me.id = ${customerId} and i.email = lower(me.email)
      and i.accepted_at is null and i.revoked_at is null and i.expires_at > now()
    returning i.id, i.role`.execute(trx)
  const [accepted] = rows
  if (!accepted) return { kind: 'invitation_not_found' }
  const known = await findTeamAccess(trx, { teamId: team.id, customerId }, { isLocked: false })
  if (known) return { kind: 'already_member' }
  const added = await addTeamMember(trx, { teamId: team.id, customerId, role: accepted.role })
  if (added === 'too_many_members') return { kind: added }
  return {
    kind: 'joined',
    invitationId: accepted.id,
    teamId: team.id,
    teamName: team.name,
    ownerId: team.customer_id,
    role: accepted.role,
  }
}
