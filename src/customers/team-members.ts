/** Members of teams: customers who joined by invitation. The owner is not a member. */
import { sql } from 'kysely'
import type { Database } from '../platform/db/open.ts'
import type { TeamRole } from '../platform/db/tables.ts'
import type { KeyFacts } from './key-acts.ts'
import { findTeamRole, type TeamRank, revokeTeamKeys } from './team-access.ts'
import type { NanoBrl } from '../platform/lib/money.ts'
import { revokeInvitations } from './team-invitations.ts'

/** The most members of one team: one answer lists all of them. */
export const TEAM_MEMBERS_MAX = 200

export interface TeamPerson {
  readonly customerId: string
  readonly name: string
  readonly email: string | null
  readonly rank: TeamRank
  /** For the owner, the time when the team was created. */
  readonly joinedAt: Date
  /** Keys of the team that this person created and that are not revoked. */
  readonly keyCount: number
  /** Usage by this person's keys of the team, in the current month of the cap. */
  readonly requestCount: number
  readonly tokenCount: number
  readonly billedNanoBrl: NanoBrl
}

/** Returns the owner first, then members in the order in which they joined. */
export async function listTeamPeople(db: Database, teamId: string): Promise<TeamPerson[]> {
  const { rows } = await sql<{
    customer_id: string
    name: string
    email: string | null
    rank: TeamPerson['rank']
    joined_at: Date
    keys: bigint
    requests: bigint
    tokens: bigint
    billed: bigint
  }>`
    with people as (
      select customer_id, 'owner' as rank, created_at as joined_at from teams where id = ${teamId}
      union all
      select customer_id, role, joined_at from team_members where team_id = ${teamId}
    ), used as (
      select k.created_by, sum(u.charged_requests)::int8 as requests,
        sum(u.prompt_tokens + u.completion_tokens)::int8 as tokens,
        sum(u.cost_billed_nano_brl)::int8 as billed
      from teams t
      join team_budgets b on b.team_id = t.id
      cross join lateral usage_between(
        t.customer_id, budget_period_start('month', b.timezone), 'infinity') u
      join api_keys k on k.id = u.api_key_id and k.team_id = t.id
      where t.id = ${teamId}
      group by 1
    )
    select p.customer_id, c.name, c.email, p.rank, p.joined_at,
      (select count(*) from api_keys k
        where k.team_id = ${teamId} and k.created_by = p.customer_id and k.revoked_at is null) as keys,
      coalesce(u.requests, 0) as requests, coalesce(u.tokens, 0) as tokens,
      coalesce(u.billed, 0) as billed
    from people p
    join customers c on c.id = p.customer_id
    left join used u on u.created_by = p.customer_id
    order by p.rank = 'owner' desc, p.joined_at, p.customer_id`.execute(db)
  return rows.map((row) => ({
    customerId: row.customer_id,
    name: row.name,
    email: row.email,
    rank: row.rank,
    joinedAt: row.joined_at,
    keyCount: Number(row.keys),
    requestCount: Number(row.requests),
    tokenCount: Number(row.tokens),
    billedNanoBrl: row.billed,
  }))
}

/** Adds a member. The caller must have locked the team and checked that the customer does not belong to it. */
export async function addTeamMember(
  trx: Database,
  input: { teamId: string; customerId: string; role: TeamRole },
): Promise<'added' | 'too_many_members'> {
  const { count } = await trx
    .selectFrom('team_members')
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .where('team_id', '=', input.teamId)
    .executeTakeFirstOrThrow()
  if (count >= TEAM_MEMBERS_MAX) return 'too_many_members'
  await trx
    .insertInto('team_members')
    .values({ team_id: input.teamId, customer_id: input.customerId, role: input.role })
    .execute()
  return 'added'
}

/**
 * Changes the role of a member. The caller must have locked the team. If the member is no longer an admin, the member's
 * open invitations are revoked. Returns undefined if there is no such member.
 */
export async function updateTeamMember(
  trx: Database,
  { teamId, customerId, role }: { teamId: string; customerId: string; role: TeamRole },
): Promise<{ formerRole: TeamRole; revokedInvitationIds: string[] } | undefined> {
  const formerRole = await findTeamRole(trx, teamId, customerId)
  if (!formerRole) return undefined
  await trx
    .updateTable('team_members')
    .set({ role })
    .where('team_id', '=', teamId)
    .where('customer_id', '=', customerId)
    .execute()
  return {
    formerRole,
    revokedInvitationIds:
      role === 'admin' ? [] : await revokeInvitations(trx, { teamId, invitedBy: customerId }),
  }
}

/**
 * Removes a member, and revokes the member's keys of the team and open invitations to it. The caller must have locked
 * the team.
 */
export async function deleteTeamMember(
  trx: Database,
  { teamId, customerId }: { teamId: string; customerId: string },
): Promise<{ revokedKeys: KeyFacts[]; revokedInvitationIds: string[] } | undefined> {
  if (!(await findTeamRole(trx, teamId, customerId))) return undefined
  // The keys are locked first, as in the deletion of an account; different orders would deadlock.
  const revokedKeys = await revokeTeamKeys(trx, { teamId, createdBy: customerId })
  await trx
    .deleteFrom('team_members')
    .where('team_id', '=', teamId)
    .where('customer_id', '=', customerId)
    .execute()
  return {
    revokedKeys,
    revokedInvitationIds: await revokeInvitations(trx, { teamId, invitedBy: customerId }),
  }
}
