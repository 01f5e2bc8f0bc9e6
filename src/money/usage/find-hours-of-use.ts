import { sql, type RawBuilder } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import type { CallOutcome, UsageEventFilter } from './usage-event.ts'

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
export async function findHoursOfUse(
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
