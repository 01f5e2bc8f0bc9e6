/**
 * Keys in pages about all of an account's: without what they may call. Of the ten thousand keys that an account may have
 * had, that is tens of megabytes, which `listApiKeyDetails` reads a page at a time.
 */
import { sql } from 'kysely'
import type { Database } from '../platform/db/open.ts'
import type { PauseReason } from '../platform/db/tables.ts'
import { KEY_STATUS, type ApiKeyStatus } from './api-key-details.ts'

export interface KeySummary {
  readonly id: string
  readonly name: string
  readonly lastFour: string
  readonly status: ApiKeyStatus
  readonly teamId: string | null
  readonly requestsPerMinute: number
  readonly tokensPerMinute: number | null
  readonly pausedReason: PauseReason | null
  /** May lag by some seconds. */
  readonly lastUsedAt: Date | null
}

/** Returns the customer's keys that are not revoked, and those of these ids; the newest first. */
export async function listKeySummaries(
  db: Database,
  customerId: string,
  ids: readonly string[] = [],
): Promise<KeySummary[]> {
  const { rows } = await sql<KeySummary>`
    select k.id, k.name, k.last_four as "lastFour", ${KEY_STATUS} as status, k.team_id as "teamId",
      k.requests_per_minute as "requestsPerMinute", k.tokens_per_minute::float8 as "tokensPerMinute",
      k.paused_reason as "pausedReason", u.last_used_at as "lastUsedAt"
    from api_keys k
    join accounts a on a.customer_id = k.customer_id
    left join api_key_uses u on u.api_key_id = k.id
    where k.customer_id = ${customerId} and (k.revoked_at is null or k.id = any(${[...ids]}::uuid[]))
    order by k.created_at desc, k.id desc`.execute(db)
  return rows
}

/** Returns the number of the customer's keys of each status; without a key, a status is left out. */
export async function countKeysByStatus(
  db: Database,
  customerId: string,
): Promise<ReadonlyMap<ApiKeyStatus, number>> {
  const { rows } = await sql<{ status: ApiKeyStatus; keys: number }>`
    select ${KEY_STATUS} as status, count(*)::int4 as keys
    from api_keys k join accounts a on a.customer_id = k.customer_id
    where k.customer_id = ${customerId} group by 1`.execute(db)
  return new Map(rows.map(({ status, keys }) => [status, keys]))
}
