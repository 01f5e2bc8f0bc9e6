import { sql, type RawBuilder } from 'kysely'
import { exactTime, isBefore } from '../../platform/db/exact-time.ts'
import type { Database } from '../../platform/db/open.ts'

const DAYS_KEPT = 90
const BATCH = 5_000

/** Deletes the counts that are older, in short transactions; returns the number of deleted rows. */
export async function pruneRefusals(
  db: Database,
  isOver: () => boolean = () => false,
): Promise<number> {
  let pruned = 0
  for (let last = BATCH; last === BATCH && !isOver(); pruned += last) last = await deleteBatch(db)
  return pruned
}

async function deleteBatch(db: Database): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from usage_refusals where (customer_id, hour_at, id) in (
      select customer_id, hour_at, id from usage_refusals
      where hour_at < now() - make_interval(days => ${DAYS_KEPT}) limit ${BATCH})`.execute(db)
  return Number(numAffectedRows)
}

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
  const isNext = before ? sql`and ${isBefore(before, 'hour_at')}` : sql``
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

export interface RefusalFilter {
  readonly modelId?: string | undefined
  readonly apiKeyId?: string | undefined
  readonly code?: string | undefined
  /** Exact times; hours that begin from the one until before the other. */
  readonly fromAt: string
  readonly untilAt: string
}

/** Returns the condition on rows of `usage_refusals`. */
export function isCounted(
  customerId: string,
  { modelId, apiKeyId, code, fromAt, untilAt }: RefusalFilter,
): RawBuilder<unknown> {
  const conditions = [
    sql`customer_id = ${customerId}`,
    sql`hour_at >= ${fromAt}::timestamptz`,
    sql`hour_at < ${untilAt}::timestamptz`,
    modelId === undefined ? undefined : sql`model_id = ${modelId}`,
    apiKeyId === undefined ? undefined : sql`api_key_id = ${apiKeyId}`,
    code === undefined ? undefined : sql`code = ${code}`,
  ].filter((condition) => condition !== undefined)
  return sql.join(conditions, sql` and `)
}

export type RefusalStep = 'hour' | 'day'

interface RefusalSums {
  /** The most frequent first. */
  readonly reasons: readonly {
    readonly code: string
    readonly status: number
    readonly refusals: bigint
    readonly firstAt: Date
    readonly lastAt: Date
  }[]
  /** The oldest first; parts without refusals are left out. */
  readonly parts: readonly { readonly startsAt: Date; readonly refusals: bigint }[]
}

interface Row {
  readonly code: string | null
  readonly status: number
  readonly startsAt: Date | null
  readonly refusals: bigint
  readonly firstAt: Date
  readonly lastAt: Date
}

/** A day is one of the time zone, as far as it consists of whole hours of UTC. */
export async function sumRefusals(
  db: Database,
  customerId: string,
  { filter, step, timezone }: { filter: RefusalFilter; step: RefusalStep; timezone: string },
): Promise<RefusalSums> {
  const { rows } = await sql<Row>`
    with counted as (
      select code, status, date_trunc(${step}::text, hour_at, ${timezone}::text) as starts_at,
        refusals, first_at, last_at
      from usage_refusals where ${isCounted(customerId, filter)}
    )
    select code, status, starts_at as "startsAt", sum(refusals)::int8 as refusals,
      min(first_at) as "firstAt", max(last_at) as "lastAt"
    from counted group by grouping sets ((code, status), (starts_at))
    order by starts_at, sum(refusals) desc, code, status`.execute(db)
  return {
    reasons: rows.flatMap(({ code, status, refusals, firstAt, lastAt }) =>
      code === null ? [] : [{ code, status, refusals, firstAt, lastAt }],
    ),
    parts: rows.flatMap(({ startsAt, refusals }) => (startsAt ? [{ startsAt, refusals }] : [])),
  }
}
