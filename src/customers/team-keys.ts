/** Keys of a team: the owner's balance pays for them, whichever member created them. */
import { sql } from 'kysely'
import type { Database } from '../platform/db/open.ts'
import { API_KEY_CHANNEL } from './api-keys.ts'
import type { KeyFacts } from './key-acts.ts'

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
