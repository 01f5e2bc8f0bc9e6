import { sql, type RawBuilder } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import { findHoursOfUse } from './find-hours-of-use.ts'
import {
  selectUsageEvents,
  type CallOutcome,
  type UsageEvent,
  type UsageEventFilter,
} from './usage-event.ts'

export interface UsageList {
  readonly customerId: string
  readonly limit: number
  readonly filter?: UsageEventFilter
  readonly before?: { readonly at: string; readonly id: string } | undefined
}

/** The customer's charges, newest first, starting after the end of the previous page. */
export function listUsageEvents(db: Database, list: UsageList): Promise<UsageEvent[]> {
  return listOutcomes(db, list, ['charged'])
}

/** The same with other outcomes, and with more columns of the event `e`. */
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
    before && sql`(created_at, id) < (${before.at}::timestamptz, ${before.id}::uuid)`,
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
