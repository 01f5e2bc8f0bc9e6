import type { Database } from '../platform/db/open.ts'
import type { TeamRole } from '../platform/db/tables.ts'
import { isUuid } from '../platform/lib/ids.ts'

/** The owner may do everything; a member can see the team and have own keys. */
export type TeamRank = 'owner' | TeamRole

export interface TeamAccess {
  readonly teamId: string
  readonly ownerId: string
  readonly rank: TeamRank
}

/**
 * Returns the customer's rank in the team; undefined if the team does not exist or the customer does not belong to it.
 * With `isLocked`, the rank cannot change before the end of the transaction.
 */
export async function findTeamAccess(
  db: Database,
  { teamId, customerId }: { teamId: string; customerId: string },
  options: { isLocked: boolean },
): Promise<TeamAccess | undefined> {
  if (!isUuid(teamId)) return undefined
  const team = await db
    .selectFrom('teams')
    .select(['id', 'customer_id'])
    .where('id', '=', teamId)
    .where('deleted_at', 'is', null)
    .$if(options.isLocked, (query) => query.forNoKeyUpdate())
    .executeTakeFirst()
  if (!team) return undefined
  const found = { teamId: team.id, ownerId: team.customer_id }
  if (team.customer_id === customerId) return { ...found, rank: 'owner' }
  const role = await findTeamRole(db, teamId, customerId)
  return role && { ...found, rank: role }
}

/** Returns the role of a member; undefined for the owner, who is not a member. */
export async function findTeamRole(
  db: Database,
  teamId: string,
  customerId: string,
): Promise<TeamRole | undefined> {
  if (!isUuid(customerId)) return undefined
  const member = await db
    .selectFrom('team_members')
    .select('role')
    .where('team_id', '=', teamId)
    .where('customer_id', '=', customerId)
    .executeTakeFirst()
  return member?.role
}
