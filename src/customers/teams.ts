/**
 * Teams: customers whose keys spend the balance of one of them, the owner, within a monthly cap in BRL.
 * Members are in `team-members.ts`, invitations in `team-invitations.ts`, keys in `team-keys.ts`; the ledger enforces the
 * cap. Every change of a team locks its row first (`findTeamAccess`), so that a checked right still holds when it is
 * used.
 */
import { sql, type RawBuilder } from 'kysely'
import { exactTime, isBefore } from '../platform/db/exact-time.ts'
import type { Database } from '../platform/db/open.ts'
import type { TeamRole } from '../platform/db/tables.ts'
import { createId, isUuid } from '../platform/lib/ids.ts'
import type { NanoBrl } from '../platform/lib/money.ts'
import { lockCustomer } from './customers.ts'
import type { KeyFacts } from './key-acts.ts'
import { type TeamRank, revokeTeamKeys } from './team-access.ts'
import { revokeInvitations } from './team-invitations.ts'

/** The most open teams that one customer may have: more than anybody can manage. */
export const TEAMS_MAX = 100
/** The most teams that one customer may ever have. Closed ones count: their rows stay because usage refers to them. */
export const TEAMS_EVER_MAX = 1_000

export interface Team {
  readonly id: string
  readonly ownerId: string
  readonly ownerName: string
  readonly name: string
  /** The rank of the customer who asks. */
  readonly rank: TeamRank
  /** Null: no cap. */
  readonly limitNanoBrl: NanoBrl | null
  /**
   * Since the first day of the month, like requests and tokens, in the time zone that the owner had when the team was
   * created.
   */
  readonly spentNanoBrl: NanoBrl
  readonly heldNanoBrl: NanoBrl
  readonly requestCount: number
  readonly tokenCount: number
  /** Without the owner. */
  readonly memberCount: number
  /** Keys that are not revoked. */
  readonly keyCount: number
  readonly createdAt: Date
  /** The position in lists, to the microsecond (`exactTime`). */
  readonly createdAtExact: string
}

/**
 * Stores a team. Call it in a transaction. It locks the owner's row, so that concurrently created teams are counted.
 */
export async function insertTeam(
  trx: Database,
  input: { ownerId: string; name: string; limitNanoBrl: NanoBrl | null },
): Promise<{ kind: 'created'; id: string } | { kind: 'too_many_teams' }> {
  await lockCustomer(trx, input.ownerId)
  const { count, ever } = await trx
    .selectFrom('teams')
    .select((eb) => eb.fn.countAll<bigint>().as('ever'))
    .select((eb) => eb.fn.countAll<bigint>().filterWhere('deleted_at', 'is', null).as('count'))
    .where('customer_id', '=', input.ownerId)
    .executeTakeFirstOrThrow()
  if (count >= TEAMS_MAX || ever >= TEAMS_EVER_MAX) return { kind: 'too_many_teams' }
  const id = createId()
  await trx
    .insertInto('teams')
    .values({ id, customer_id: input.ownerId, name: input.name })
    .execute()
  await sql`insert into team_budgets (team_id, timezone, limit_nano_brl)
    select ${id}, timezone, ${input.limitNanoBrl} from customers where id = ${input.ownerId}`.execute(
    trx,
  )
  return { kind: 'created', id }
}

/**
 * Changes a team. An undefined field stays unchanged. A lower cap ends no running call, whose hold was within the old
 * cap.
 */
export async function updateTeam(
  trx: Database,
  teamId: string,
  change: { name?: string | undefined; limitNanoBrl?: NanoBrl | null | undefined },
): Promise<void> {
  if (change.name !== undefined)
    await trx.updateTable('teams').set({ name: change.name }).where('id', '=', teamId).execute()
  if (change.limitNanoBrl !== undefined)
    await trx
      .updateTable('team_budgets')
      .set({ limit_nano_brl: change.limitNanoBrl })
      .where('team_id', '=', teamId)
      .execute()
}

/** Closes the team and revokes its keys and invitations. The rows stay, because usage refers to them. */
export async function closeTeam(
  trx: Database,
  teamId: string,
): Promise<{ revokedKeys: KeyFacts[]; revokedInvitationIds: string[] }> {
  await trx
    .updateTable('teams')
    .set({ deleted_at: sql<Date>`now()` })
    .where('id', '=', teamId)
    .execute()
  return {
    revokedKeys: await revokeTeamKeys(trx, { teamId }),
    revokedInvitationIds: await revokeInvitations(trx, { teamId }),
  }
}

/** Returns the teams that the customer owns or is a member of, the newest first. */
export function listTeams(
  db: Database,
  customerId: string,
  { after, limit }: { after?: { at: string; id: string } | undefined; limit: number },
): Promise<Team[]> {
  const place = after ? isBefore(after, 't.created_at', 't.id') : sql`true`
  return selectTeams(db, customerId, place, limit)
}

/** Returns undefined if the team does not exist or the customer does not belong to it. */
export async function findTeam(
  db: Database,
  { teamId, customerId }: { teamId: string; customerId: string },
): Promise<Team | undefined> {
  if (!isUuid(teamId)) return undefined
  return (await selectTeams(db, customerId, sql`t.id = ${teamId}`, 1))[0]
}

interface TeamRow {
  id: string
  customer_id: string
  owner_name: string
  name: string
  role: TeamRole | null
  limit_nano_brl: bigint | null
  spent_nano_brl: bigint
  held_nano_brl: bigint
  requests: bigint
  tokens: bigint
  members: bigint
  keys: bigint
  created_at: Date
  created_at_exact: string
}

/** Sums the usage once per owner on the page, because an owner's roll-ups cover all of the owner's teams. */
async function selectTeams(
  db: Database,
  customerId: string,
  condition: RawBuilder<unknown>,
  limit: number,
): Promise<Team[]> {
  const { rows } = await sql<TeamRow>`
    with page as materialized (
      select t.id, t.customer_id, c.name as owner_name, t.name, t.created_at, m.role, b.timezone,
        b.limit_nano_brl, b.held_nano_brl,
        case when b.period_started_at >= budget_period_start('month', b.timezone)
          then b.spent_nano_brl else 0 end as spent_nano_brl
      from teams t
      join team_budgets b on b.team_id = t.id
      join customers c on c.id = t.customer_id
      left join team_members m on m.team_id = t.id and m.customer_id = ${customerId}
      where t.id in (
          select id from teams where customer_id = ${customerId}
          union all select team_id from team_members where customer_id = ${customerId})
        and t.deleted_at is null and ${condition}
      order by t.created_at desc, t.id desc
      limit ${limit}
    ), sums as materialized (
      -- Once per owner and not once per team or key.
      select o.timezone, u.* from (select distinct customer_id, timezone from page) o
      cross join lateral usage_between(
        o.customer_id, budget_period_start('month', o.timezone), 'infinity') u
    ), used as (
      select p.id, sum(u.charged_requests)::int8 as requests,
        sum(u.prompt_tokens + u.completion_tokens)::int8 as tokens
      from sums u
      join api_keys k on k.id = u.api_key_id
      join page p on p.id = k.team_id and p.timezone = u.timezone
      group by 1
    )
    select p.*, ${exactTime('p.created_at')} as created_at_exact,
      coalesce(used.requests, 0) as requests, coalesce(used.tokens, 0) as tokens,
      (select count(*) from team_members m where m.team_id = p.id) as members,
      (select count(*) from api_keys k where k.team_id = p.id and k.revoked_at is null) as keys
    from page p left join used on used.id = p.id
    order by p.created_at desc, p.id desc`.execute(db)
  return rows.map(toTeam)
}

function toTeam(row: TeamRow): Team {
  return {
    id: row.id,
    ownerId: row.customer_id,
    ownerName: row.owner_name,
    name: row.name,
    rank: row.role ?? 'owner',
    limitNanoBrl: row.limit_nano_brl,
    spentNanoBrl: row.spent_nano_brl,
    heldNanoBrl: row.held_nano_brl,
    requestCount: Number(row.requests),
    tokenCount: Number(row.tokens),
    memberCount: Number(row.members),
    keyCount: Number(row.keys),
    createdAt: row.created_at,
    createdAtExact: row.created_at_exact,
  }
}
