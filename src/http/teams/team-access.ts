/** The rights of each rank in a team, shared by all routes of teams. */
import Type from 'typebox'
import { audited, type RecordAct } from '../../audit-log/audited.ts'
import { recordRevokedKeys, type KeyFacts } from '../../customers/key-acts.ts'
import { findTeamAccess, type TeamAccess, type TeamRank } from '../../customers/team-access.ts'
import type { Database } from '../../db/open.ts'
import { actorOf, type Caller } from '../rest/authenticate.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'

export const teamParams = { id: Type.String({ description: 'UUID da equipe' }) }
export const teamRole = Type.Enum(['admin', 'member'])
export const teamRank = Type.Enum(['owner', 'admin', 'member'])

const HEIGHT: Readonly<Record<TeamRank, number>> = { member: 0, admin: 1, owner: 2 }

/** Throws a 404 for a team that is not there for the caller, a 403 where they are less in it than is needed. */
export async function getTeamAccess(
  db: Database,
  caller: Caller,
  teamId: string,
  least: TeamRank,
  options: { isLocked: boolean } = { isLocked: false },
): Promise<TeamAccess> {
  const { customerId } = caller
  const access = await findTeamAccess(db, { teamId, customerId }, options)
  if (!access) throw new RestRefusal(404, 'team_not_found')
  if (HEIGHT[access.rank] < HEIGHT[least])
    throw new RestRefusal(
      403,
      'forbidden',
      `only for the team's ${least === 'owner' ? 'owner' : 'owner and admins'}`,
    )
  return access
}

/** Serialises the acts on a team, and checks the caller's rank inside the transaction. */
export function actInTeam<Result>(
  db: Database,
  caller: Caller,
  teamId: string,
  least: TeamRank,
  work: (trx: Database, record: RecordAct, access: TeamAccess) => Promise<Result>,
): Promise<Result> {
  return audited(db, actorOf(caller), async (trx, record) => {
    const access = await getTeamAccess(trx, caller, teamId, least, { isLocked: true })
    return work(trx, record, access)
  })
}

/** Records the keys and invitations that ended with a membership, or with the team. */
export async function recordRevoked(
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

/** Reveals only the first letter, which is enough to recognise an acquaintance. */
export function maskedName(name: string): string {
  return `${Array.from(name)[0] ?? ''}***`
}
