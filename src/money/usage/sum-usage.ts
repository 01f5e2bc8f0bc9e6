import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import {
  eventSumColumns,
  sumColumns,
  toSums,
  type SumsRow,
  type UsageSums,
  addUp,
  byCost,
  usageOfDays,
} from './usage-windows.ts'

interface Latency {
  /** The number of measured calls. */
  readonly calls: number
  /** Milliseconds from the request to the model until the end of its answer; null without calls. */
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  /** Until the first byte. */
  readonly firstByteP50Ms: number | null
}

/** The number of calls in the sample: the newest charged ones. */
export const LATENCY_CALLS = 500

/** Returns the latency of the customer's newest charged calls. */
export async function findLatency(db: Database, customerId: string): Promise<Latency> {
  const { rows } = await sql<Latency>`
    select count(*)::int4 as calls,
      percentile_disc(0.5) within group (order by duration_ms) as "p50Ms",
      percentile_disc(0.95) within group (order by duration_ms) as "p95Ms",
      percentile_disc(0.5) within group (order by first_byte_ms) as "firstByteP50Ms"
    from (
      select duration_ms, first_byte_ms from usage_events
      where customer_id = ${customerId} and outcome = 'charged' and duration_ms is not null
      order by created_at desc, id desc limit ${LATENCY_CALLS}
    ) newest`.execute(db)
  return rows[0] as Latency
}

export interface DayUsage extends UsageSums {
  /** `YYYY-MM-DD` in the customer's time zone. */
  readonly day: string
}

/**
 * Returns each of the last days, today included, oldest first; also days without usage.
 *
 * A day in the customer's time zone is approximated by the UTC days between the UTC midnights nearest to its start and
 * end, and corrected by the hours between those midnights and the true start and end. This reads a few hours at each end
 * and not the 24 hours of every day. If a day starts within an hour, that hour's events are read.
 */
export async function sumUsageByDay(
  db: Database,
  customerId: string,
  days: number,
): Promise<DayUsage[]> {
  const { rows } = await sql<SumsRow & { day: string }>`
    with starts as (
      select back, (now() at time zone c.timezone)::date - back as day, starts_at, near_at, a.usage_days_until,
        lag(near_at, 1, 'infinity') over (order by back) as next_near_at
      from customers c
        join accounts a on a.customer_id = c.id
        cross join generate_series(0, ${days - 1}::int4) as back
        cross join lateral (select first_day_start(c.timezone, back + 1) as starts_at) s
        cross join lateral (select date_trunc('day', starts_at + interval '12 hours', 'UTC') as near_at) n
      where c.id = ${customerId}
    ), cuts as (
      select back, starts_at < near_at as is_before, least(starts_at, near_at) as cut_from, greatest(starts_at, near_at) as cut_to,
        date_trunc('hour', least(starts_at, near_at) + interval '1 hour' - interval '1 microsecond') as hours_from,
        date_trunc('hour', greatest(starts_at, near_at)) as hours_to
      from starts
    ), cut_sums as materialized (
      select back, is_before, u.* from cuts cross join lateral (
        select ${sumColumns} from usage_hours u
        where u.customer_id = ${customerId} and u.hour_at >= hours_from and u.hour_at < hours_to
      ) u
      union all
      select back, is_before, u.* from cuts cross join lateral (
        select ${eventSumColumns} from usage_events u
        where u.customer_id = ${customerId} and (u.created_at >= cut_from and u.created_at < hours_from
          or u.created_at >= hours_to and u.created_at < cut_to)
      ) u
      where cut_from < hours_from or hours_to < cut_to
    ), parts as (
      select back, 1 as sign, u.* from starts cross join lateral (
        select ${sumColumns} from usage_days u
        where u.customer_id = ${customerId} and u.day_at >= near_at and u.day_at < least(next_near_at, usage_days_until)
      ) u
      union all
      select back, 1, u.* from starts cross join lateral (
        select ${sumColumns} from usage_hours u
        where u.customer_id = ${customerId} and u.hour_at >= greatest(near_at, usage_days_until) and u.hour_at < next_near_at
      ) u
      union all
      -- Usage before the UTC midnight belongs to the day that begins there, usage after it to the previous day.
      select back + side, case when is_before then 1 - 2 * side else 2 * side - 1 end, requests, failed_requests,
        prompt_tokens, completion_tokens, cost_billed_nano_brl, cost_upstream_pico_usd
      from cut_sums, generate_series(0, 1) as side
    )
    select to_char(s.day, 'YYYY-MM-DD') as day,
      coalesce(sum(sign * requests), 0) as requests,
      coalesce(sum(sign * failed_requests), 0) as failed_requests,
      coalesce(sum(sign * prompt_tokens), 0) as prompt_tokens,
      coalesce(sum(sign * completion_tokens), 0) as completion_tokens,
      coalesce(sum(sign * cost_billed_nano_brl), 0) as cost_billed_nano_brl,
      coalesce(sum(sign * cost_upstream_pico_usd), 0) as cost_upstream_pico_usd
    from starts s left join parts p on p.back = s.back
    group by s.back, s.day order by s.back desc`.execute(db)
  return rows.map((row) => ({ day: row.day, ...toSums(row) }))
}

export interface KeyUsage extends UsageSums {
  /** The most expensive first. */
  readonly models: readonly ModelUsage[]
}

/** Returns the usage by each key of the customer in the last days; keys without usage are left out. */
export async function sumUsageByKey(
  db: Database,
  customerId: string,
  days: number,
): Promise<Map<string, KeyUsage>> {
  const { rows } = await sql<SumsRow & { api_key_id: string; model_id: string }>`
    select u.api_key_id, u.model_id, ${sumColumns} from ${usageOfDays(customerId, days)}
    group by u.api_key_id, u.model_id order by u.model_id`.execute(db)
  return new Map(
    [...Map.groupBy(rows, (row) => row.api_key_id)].map(([keyId, ofKey]) => {
      const models = ofKey.map((row) => ({ modelId: row.model_id, ...toSums(row) })).sort(byCost)
      return [keyId, { ...addUp(models), models }]
    }),
  )
}

export interface ModelUsage extends UsageSums {
  readonly modelId: string
}

/** Returns the customer's usage of each model in the last days, the most expensive first. */
export async function sumUsageByModel(
  db: Database,
  customerId: string,
  days: number,
): Promise<ModelUsage[]> {
  const { rows } = await sql<SumsRow & { model_id: string }>`
    select u.model_id, ${sumColumns} from ${usageOfDays(customerId, days)}
    group by u.model_id order by u.model_id`.execute(db)
  return rows.map((row) => ({ modelId: row.model_id, ...toSums(row) })).sort(byCost)
}
