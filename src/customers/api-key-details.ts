/** API keys in the form that customers see: with status, spending and time of last use. */
import { sql, type RawBuilder } from 'kysely'
import { exactTime, isBefore } from '../platform/db/exact-time.ts'
import type { Database } from '../platform/db/open.ts'
import type { BudgetPeriod } from '../platform/db/tables.ts'
import { isUuid } from '../platform/lib/ids.ts'
import type { NanoBrl, PicoUsd } from '../platform/lib/money.ts'
import { toApiKey, type ApiKey, type ApiKeyRow } from './api-keys.ts'

export const API_KEY_STATUSES = ['active', 'suspended', 'paused', 'revoked', 'expired'] as const

/**
 * The state of a key. A `paused` one is refused until the pause is lifted. `suspended` means that the balance that pays
 * for the key is not above zero; a credit makes the key active again.
 */
export type ApiKeyStatus = (typeof API_KEY_STATUSES)[number]

/** Selects the status of the key `k`, whose account is `a`. */
export const KEY_STATUS = sql<ApiKeyStatus>`
  case
    when k.revoked_at is not null then 'revoked'
    when k.expires_at <= now() then 'expired'
    when k.paused_at is not null then 'paused'
    when a.credited_nano_brl - a.debited_nano_brl - a.charged_nano_brl > 0 then 'active'
    else 'suspended'
  end`

export interface KeyCap {
  readonly limitNanoBrl: NanoBrl
  /** Spent in the current period, or held by running calls. */
  readonly usedNanoBrl: NanoBrl
}

export interface ApiKeyDetails extends ApiKey {
  readonly status: ApiKeyStatus
  readonly budget: {
    readonly limitPicoUsd: PicoUsd
    readonly period: BudgetPeriod
    /** In the current period. */
    readonly spentPicoUsd: PicoUsd
  } | null
  readonly minuteCap: KeyCap | null
  readonly dayCap: KeyCap | null
  /** May lag by some seconds. */
  readonly lastUsedAt: Date | null
  /** The position in lists, to the microsecond (`exactTime`). */
  readonly createdAtExact: string
}

/** Returns the details of a key of the customer; without a `customerId`, of a key of any customer. */
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
  /** A part of the name, or of the last four characters of the secret. */
  readonly search?: string | undefined
  /** Start after this position. */
  readonly after?: { readonly at: string; readonly id: string } | undefined
}

/** Returns the details of keys, the newest first; a null limit lists all. */
export async function listApiKeyDetails(
  db: Database,
  { customerId, teamId, createdBy, status, search, after }: ApiKeyFilter,
  limit: number | null,
): Promise<ApiKeyDetails[]> {
  const conditions = [
    customerId === undefined ? undefined : sql`k.customer_id = ${customerId}`,
    teamId === undefined ? undefined : sql`k.team_id = ${teamId}`,
    createdBy === undefined ? undefined : sql`k.created_by = ${createdBy}`,
    search === undefined
      ? undefined
      : sql`position(lower(${search}) in lower(k.name || ' ' || k.last_four)) > 0`,
    after && isBefore(after, 'k.created_at', 'k.id'),
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
  minute_limit: bigint | null
  minute_used: bigint | null
  day_limit: bigint | null
  day_used: bigint | null
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
        ${KEY_STATUS} as status,
        case when b.period_started_at >= budget_period_start(b.period, b.timezone) then b.spent_pico_usd else 0 end
          as spent_pico_usd,
        m.limit_nano_brl as minute_limit, ${capUsed('m')} as minute_used,
        d.limit_nano_brl as day_limit, ${capUsed('d')} as day_used
      from api_keys k
      join accounts a on a.customer_id = k.customer_id
      left join api_key_budgets b on b.api_key_id = k.id
      left join key_caps m on m.api_key_id = k.id and m.period = 'minute'
      left join key_caps d on d.api_key_id = k.id and d.period = 'day'
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
    minuteCap: capOf(row.minute_limit, row.minute_used),
    dayCap: capOf(row.day_limit, row.day_used),
    lastUsedAt: row.last_used_at,
    createdAtExact: row.created_at_exact,
  }))
}

function capUsed(table: 'm' | 'd'): RawBuilder<unknown> {
  const of = (column: string): RawBuilder<unknown> => sql.ref(`${table}.${column}`)
  return sql`${of('held_nano_brl')} + case
    when ${of('period_started_at')} >= budget_period_start(${of('period')}, ${of('timezone')}) then ${of('spent_nano_brl')} else 0 end`
}

function capOf(limitNanoBrl: bigint | null, usedNanoBrl: bigint | null): KeyCap | null {
  return limitNanoBrl === null || usedNanoBrl === null ? null : { limitNanoBrl, usedNanoBrl }
}
