/** The rights of each rank in a team, shared by all routes of teams. */
import Type from 'typebox'
import { findTeamAccess, type TeamAccess, type TeamRank } from '../../customers/team-access.ts'
import { inTransaction, type Database } from '../../platform/db/open.ts'
import type { Caller } from '../rest/authenticate.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'

export const teamParams = { id: Type.String({ description: 'UUID da equipe' }) }
export const teamRole = Type.Enum(['admin', 'member'])
export const teamRank = Type.Enum(['owner', 'admin', 'member'])

const HEIGHT: Readonly<Record<TeamRank, number>> = { member: 0, admin: 1, owner: 2 }

/**
 * Returns the caller's access to a team. Throws a 404 for a team that does not exist for the caller, and a 403 if the
 * caller's rank is too low.
 */
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
      `só para ${least === 'owner' ? 'o dono' : 'o dono e os administradores'} da equipe`,
    )
  return access
}

/** Serialises the acts on a team, and checks the caller's rank inside the transaction. */
export function actInTeam<Result>(
  db: Database,
  caller: Caller,
  teamId: string,
  least: TeamRank,
  work: (trx: Database, access: TeamAccess) => Promise<Result>,
): Promise<Result> {
  return inTransaction(db, async (trx) =>
    work(trx, await getTeamAccess(trx, caller, teamId, least, { isLocked: true })),
  )
}

/** Shows only the first letter, which is enough to recognise an acquaintance. */
export function maskedName(name: string): string {
  return `${Array.from(name)[0] ?? ''}***`
}
