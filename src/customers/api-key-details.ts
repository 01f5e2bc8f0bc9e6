/** API keys in the form that customers see: with status, spending and time of last use. */
import { sql, type RawBuilder } from 'kysely'
import { exactTime } from '../db/exact-time.ts'
import type { Database } from '../db/open.ts'
import type { BudgetPeriod } from '../db/tables.ts'
import { isUuid } from '../lib/ids.ts'
import type { PicoUsd } from '../lib/money.ts'
import { toApiKey, type ApiKey, type ApiKeyRow } from './api-keys.ts'

export const API_KEY_STATUSES = ['active', 'suspended', 'revoked', 'expired'] as const

/** `suspended`: the balance that pays for the key is not above zero; a credit makes the key active again. */
export type ApiKeyStatus = (typeof API_KEY_STATUSES)[number]

export interface ApiKeyDetails extends ApiKey {
  readonly status: ApiKeyStatus
  readonly budget: {
    readonly limitPicoUsd: PicoUsd
    readonly period: BudgetPeriod
    /** In the current period. */
    readonly spentPicoUsd: PicoUsd
  } | null
  /** May lag by some seconds. */
  readonly lastUsedAt: Date | null
  /** The position in lists, to the microsecond (`exactTime`). */
  readonly createdAtExact: string
}

/** Without a `customerId`, finds the key of any customer. */
export async function findApiKeyDetails(
  db: Database,
  customerId: string | undefined,
  keyId: string,
): Promise<ApiKeyDetails | undefined> {
  if (!isUuid(keyId)) return undefined
  const [found] = await readDetails(
    db,
    customerId === undefined
      ? sql`k.id = ${keyId}`
      : sql`k.id = ${keyId} and k.customer_id = ${customerId}`,
    sql`true`,
    1,
  )
  return found
}

export interface ApiKeyFilter {
  readonly customerId?: string | undefined
  readonly teamId?: string | undefined
  /** The customer who created the key for a team. */
  readonly createdBy?: string | undefined
  readonly status?: ApiKeyStatus | undefined
  /** Start after this position. */
  readonly after?: { readonly at: string; readonly id: string } | undefined
}

/** Newest first; a null limit lists all. */
export async function listApiKeyDetails(
  db: Database,
  { customerId, teamId, createdBy, status, after }: ApiKeyFilter,
  limit: number | null,
): Promise<ApiKeyDetails[]> {
  const conditions = [
    customerId === undefined ? undefined : sql`k.customer_id = ${customerId}`,
    teamId === undefined ? undefined : sql`k.team_id = ${teamId}`,
    createdBy === undefined ? undefined : sql`k.created_by = ${createdBy}`,
    after && sql`(k.created_at, k.id) < (${after.at}::timestamptz, ${after.id}::uuid)`,
  ].filter((condition) => condition !== undefined)
  return readDetails(
    db,
    conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `),
    status === undefined ? sql`true` : sql`status = ${status}`,
    limit,
  )
}

interface DetailsRow extends ApiKeyRow {
  status: ApiKeyStatus
  period: BudgetPeriod | null
  limit_pico_usd: bigint | null
  spent_pico_usd: bigint | null
  last_used_at: Date | null
  created_at_exact: string
}

async function readDetails(
  db: Database,
  ofKeys: RawBuilder<unknown>,
  ofDetails: RawBuilder<unknown>,
  limit: number | null,
): Promise<ApiKeyDetails[]> {
  const { rows } = await sql<DetailsRow>`
    select * from (
      select k.*, ${exactTime('k.created_at')} as created_at_exact, b.period, b.limit_pico_usd, u.last_used_at,
        case
          when k.revoked_at is not null then 'revoked'
          when k.expires_at <= now() then 'expired'
          when a.credited_nano_brl - a.debited_nano_brl - a.charged_nano_brl > 0 then 'active'
          else 'suspended'
        end as status,
        case when b.period_started_at >= budget_period_start(b.period, b.timezone) then b.spent_pico_usd else 0 end
          as spent_pico_usd
      from api_keys k
      join accounts a on a.customer_id = k.customer_id
      left join api_key_budgets b on b.api_key_id = k.id
      left join api_key_uses u on u.api_key_id = k.id
      where ${ofKeys}
    ) keys
    where ${ofDetails}
    order by created_at desc, id desc
    limit ${limit}`.execute(db)
  return rows.map((row) => ({
    ...toApiKey(row),
    status: row.status,
    budget:
      row.period === null
        ? null
        : {
            limitPicoUsd: row.limit_pico_usd as bigint,
            period: row.period,
            spentPicoUsd: row.spent_pico_usd as bigint,
          },
    lastUsedAt: row.last_used_at,
    createdAtExact: row.created_at_exact,
  }))
}
