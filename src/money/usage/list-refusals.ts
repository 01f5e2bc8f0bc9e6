import { sql } from 'kysely'
import { exactTime } from '../../platform/db/exact-time.ts'
import type { Database } from '../../platform/db/open.ts'
import { isCounted, type RefusalFilter } from './refusal-filter.ts'

/** Calls of one hour that were answered with the same error. */
export interface RefusalsOfHour {
  readonly id: string
  /** To the microsecond, for cursors. */
  readonly hourAt: string
  /** Null if the account used too many keys in the hour. */
  readonly apiKeyId: string | null
  readonly apiKeyName: string | null
  /** Null for calls that named no model of the catalog. */
  readonly modelId: string | null
  readonly code: string
  readonly status: number
  readonly refusals: bigint
  readonly firstAt: Date
  readonly lastAt: Date
}

/** Returns the refusals of each hour, the newest hours first, starting after the end of the previous page. */
export async function listRefusals(
  db: Database,
  list: {
    readonly customerId: string
    readonly limit: number
    readonly filter: RefusalFilter
    readonly before?: { readonly at: string; readonly id: string } | undefined
  },
): Promise<RefusalsOfHour[]> {
  const { customerId, limit, filter, before } = list
  const isNext = before
    ? sql`and (hour_at, id) < (${before.at}::timestamptz, ${before.id}::uuid)`
    : sql``
  const { rows } = await sql<RefusalsOfHour>`
    select r.id, ${exactTime('r.hour_at')} as "hourAt", r.api_key_id as "apiKeyId", k.name as "apiKeyName",
      r.model_id as "modelId", r.code, r.status, r.refusals, r.first_at as "firstAt", r.last_at as "lastAt"
    from (
      select * from usage_refusals where ${isCounted(customerId, filter)} ${isNext}
      order by hour_at desc, id desc limit ${limit}
    ) r left join api_keys k on k.id = r.api_key_id
    order by r.hour_at desc, r.id desc`.execute(db)
  return rows
}
