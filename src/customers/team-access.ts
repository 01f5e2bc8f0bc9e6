import { sql } from 'kysely'
import type { Database } from '../platform/db/open.ts'
import type { TeamRole } from '../platform/db/tables.ts'
import { isUuid } from '../platform/lib/ids.ts'
import { API_KEY_CHANNEL } from './api-keys.ts'
import type { KeyFacts } from './key-acts.ts'

/** Keys of a team: the owner's balance pays for them, whichever member created them. */

/** The most keys of one team that are not revoked. */
export const TEAM_KEYS_MAX = 100

/** Revokes all keys of the team, or those that one customer created, on all nodes. Returns them. */
export async function revokeTeamKeys(
  db: Database,
  { teamId, createdBy }: { teamId: string; createdBy?: string | undefined },
): Promise<KeyFacts[]> {
  const { rows } = await sql<KeyFacts>`
    with revoked as (
      update api_keys set revoked_at = now(), version = version + 1
      where team_id = ${teamId} and revoked_at is null
        and ${createdBy === undefined ? sql`true` : sql`created_by = ${createdBy}`}
      returning id, customer_id, name, last_four
    )
    select id, customer_id as "customerId", name, last_four as "lastFour",
      pg_notify(${API_KEY_CHANNEL}, id::text)
    from revoked`.execute(db)
  return rows
}

export async function countTeamKeys(db: Database, teamId: string): Promise<number> {
  const { count } = await db
    .selectFrom('api_keys')
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .where('team_id', '=', teamId)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(count)
}

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
