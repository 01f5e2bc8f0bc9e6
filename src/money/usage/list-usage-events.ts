import { sql, type RawBuilder } from 'kysely'
import { isBefore } from '../../platform/db/exact-time.ts'
import type { NanoBrl } from '../../platform/lib/money.ts'
import { CACHE_SAVED_NANO_BRL, ROUTING_SAVED_NANO_BRL } from './savings.ts'
import type { Database } from '../../platform/db/open.ts'
import {
  selectUsageEvents,
  type CallOutcome,
  type UsageEvent,
  type UsageEventFilter,
} from './usage-event.ts'

const COUNTS: Readonly<Record<CallOutcome, RawBuilder<unknown>>> = {
  charged: sql`u.charged_requests`,
  released: sql`u.released_requests`,
}

/**
 * Finds the newest hours that together contain at least `limit` calls with these outcomes, of a key or a model if the
 * filter names one, or all such hours if there are fewer. It searches the roll-ups, days first and then their hours, so that a rarely used key or model does
 * not require a scan of a year of events. The hour and the day of `before` are included but count as zero, because
 * earlier pages may have listed all of their charges.
 */
async function findHoursOfUse(
  db: Database,
  {
    customerId,
    limit,
    filter,
    before,
    outcomes,
  }: {
    customerId: string
    limit: number
    filter: UsageEventFilter
    before: string | undefined
    outcomes: readonly CallOutcome[]
  },
): Promise<Date[]> {
  const { modelId, apiKeyId, fromAt = '-infinity', untilAt = 'infinity' } = filter
  const last = before ?? untilAt
  const counted = sql.join(
    outcomes.map((outcome) => COUNTS[outcome]),
    sql` + `,
  )
  // The charges and reversals of an hour may be as many.
  const hasCharges = outcomes.includes('charged') ? sql`or u.cost_billed_nano_brl <> 0` : sql``
  const isOfUse = sql`u.customer_id = ${customerId} and (${counted} <> 0 ${hasCharges})
    and (${modelId ?? null}::text is null or u.model_id = ${modelId ?? null})
    and (${apiKeyId ?? null}::uuid is null or u.api_key_id = ${apiKeyId ?? null})`
  const { rows } = await sql<{ hour_at: Date }>`
    with account as (
      select usage_days_until from accounts where customer_id = ${customerId}
    ), days as (
      select day_at as from_at, day_at + interval '1 day' as until_at, charged,
        sum(charged) over (order by day_at desc) as charged_so_far
      from (
        select day_at, case when day_at = date_trunc('day', ${last}::timestamptz, 'UTC') then 0
          else sum(${counted}) end as charged
        from usage_days u
        where ${isOfUse} and day_at > ${fromAt}::timestamptz - interval '1 day' and day_at <= ${last}::timestamptz
        group by day_at
      ) counted
    ), spans as (
      -- The days that are not rolled up yet, as one span.
      select greatest(usage_days_until, ${fromAt}::timestamptz - interval '1 hour') as from_at, 'infinity'::timestamptz as until_at
      from account
      union all
      select from_at, until_at from days where charged_so_far - charged < ${limit}
    ), hours as (
      select hour_at, charged, sum(charged) over (order by hour_at desc) as charged_so_far
      from (
        select u.hour_at, case when u.hour_at = date_trunc('hour', ${last}::timestamptz) then 0
          else sum(${counted}) end as charged
        from spans s
        cross join lateral (
          select * from usage_hours u
          where ${isOfUse} and u.hour_at >= s.from_at and u.hour_at < s.until_at
            and u.hour_at > ${fromAt}::timestamptz - interval '1 hour' and u.hour_at <= ${last}::timestamptz
          -- Forces one lookup per span; otherwise the plan reads and joins all hours of the customer.
          offset 0
        ) u
        group by 1
      ) counted
    )
    select hour_at from hours where charged_so_far - charged < ${limit} order by hour_at desc`.execute(
    db,
  )
  return rows.map((row) => row.hour_at)
}

export interface UsageList {
  readonly customerId: string
  readonly limit: number
  readonly filter?: UsageEventFilter
  readonly before?: { readonly at: string; readonly id: string } | undefined
}

/** Returns the customer's charges, newest first, starting after the end of the previous page. */
export function listUsageEvents(db: Database, list: UsageList): Promise<UsageEvent[]> {
  return listOutcomes(db, list, ['charged'])
}

/** Returns calls as `listUsageEvents` does, with other outcomes, and with more columns of the event `e`. */
export async function listOutcomes<More = unknown>(
  db: Database,
  list: UsageList,
  outcomes: readonly CallOutcome[],
  more: RawBuilder<unknown> = sql``,
): Promise<(UsageEvent & More)[]> {
  const { modelId, apiKeyId, sessionId, fromAt, untilAt } = list.filter ?? {}
  const { before } = list
  const conditions = [
    sql`customer_id = ${list.customerId}`,
    sql`outcome in (${sql.join(outcomes)})`,
    // A page of an archived month would lack what is in files; exports have it.
    sql`created_at >= archived_until()`,
    modelId === undefined ? undefined : sql`model_id = ${modelId}`,
    apiKeyId === undefined ? undefined : sql`api_key_id = ${apiKeyId}`,
    sessionId === undefined ? undefined : sql`session_id = ${sessionId}`,
    fromAt === undefined ? undefined : sql`created_at >= ${fromAt}::timestamptz`,
    untilAt === undefined ? undefined : sql`created_at < ${untilAt}::timestamptz`,
    // Repeats the condition on the time alone, because a row comparison does not prune partitions.
    before && sql`created_at <= ${before.at}::timestamptz`,
    before && isBefore(before),
  ].filter((condition) => condition !== undefined)
  const newest = sql`order by created_at desc, id desc limit ${list.limit}`
  const found = sql`select * from usage_events where ${sql.join(conditions, sql` and `)}`
  // Failed calls alone may be as rare as those of a key or a model. Sessions have their own index.
  const isRare = modelId !== undefined || apiKeyId !== undefined || !outcomes.includes('charged')
  if (!isRare || sessionId !== undefined) {
    const { rows } = await selectUsageEvents<More>(sql`${found} ${newest}`, 'desc', more).execute(
      db,
    )
    return rows
  }
  const hours = await findHoursOfUse(db, {
    customerId: list.customerId,
    limit: list.limit,
    filter: list.filter ?? {},
    before: before?.at,
    outcomes,
  })
  const { rows } = await selectUsageEvents<More>(
    sql`
      select e.* from unnest(${hours.map((hour) => hour.toISOString())}::timestamptz[]) as hour_at
      cross join lateral (
        ${found} and created_at >= hour_at and created_at < hour_at + interval '1 hour' ${newest}) e
      ${newest}`,
    'desc',
    more,
  ).execute(db)
  return rows
}

/** A call that reached a hold: charged, or failed and free. */
export interface Call extends UsageEvent {
  readonly outcome: CallOutcome
  /** Of a failure, in the gateway's own words. */
  readonly reason: string | null
  readonly isStream: boolean
  /** From the request to the model; null where it was not measured. */
  readonly firstByteMs: number | null
  readonly durationMs: number | null
  /** See `CACHE_SAVED_NANO_BRL`. */
  readonly cacheSavedNanoBrl: NanoBrl
  /** See `ROUTING_SAVED_NANO_BRL`. */
  readonly routingSavedNanoBrl: NanoBrl
}

type CallColumns = Omit<Call, keyof UsageEvent>

/** Returns the customer's calls, newest first. */
export function listCalls(
  db: Database,
  list: UsageList,
  outcomes: readonly CallOutcome[],
): Promise<Call[]> {
  return listOutcomes<CallColumns>(
    db,
    list,
    outcomes,
    sql`, e.outcome, e.reason, e.is_stream as "isStream", e.first_byte_ms as "firstByteMs",
      e.duration_ms as "durationMs", ${CACHE_SAVED_NANO_BRL} as "cacheSavedNanoBrl",
      ${ROUTING_SAVED_NANO_BRL} as "routingSavedNanoBrl"`,
  )
}
