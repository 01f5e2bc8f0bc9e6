import { sql, type RawBuilder } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import type { NanoBrl } from '../../platform/lib/money.ts'

export type SpendGrouping = 'model' | 'key' | 'team' | 'session'
export type SpendStep = 'day' | 'week' | 'month'

export interface SpendRow {
  /** The first day of the part of the period, in the customer's time zone. */
  readonly day: string
  /** The model, key, team or session; null for calls without one, and for groups beyond the listed ones. */
  readonly group: string | null
  /** Charged calls. */
  readonly requests: number
  readonly failedRequests: number
  readonly costBilledNanoBrl: NanoBrl
}

interface Asked {
  readonly customerId: string
  /** Days of the customer's time zone, both included. */
  readonly from: string
  readonly to: string
  readonly step: SpendStep
}

/**
 * The number of groups that are summed one by one, the most expensive first; the others are one row with a null group.
 */
export const GROUPS_MAX = 9
/** Among so many sessions of the period, and as many that began in it or before and went on. */
const SESSIONS_READ = 10_000
/** The most requests of a session whose parts are summed: they are summed event by event. */
export const SESSION_REQUESTS_MAX = 50_000

const GROUPS: Readonly<Record<'model' | 'key' | 'team', RawBuilder<unknown>>> = {
  model: sql`u.model_id`,
  key: sql`u.api_key_id::text`,
  team: sql`(select k.team_id::text from api_keys k where k.id = u.api_key_id)`,
}

/**
 * What the customer spent in each part of a period, by group: the `GROUPS_MAX` most expensive ones, and the rest as
 * null, because an account may have used ten thousand keys on every day. It reads roll-ups, and single events only at a bound that
 * cuts an hour; of sessions, the events of the listed ones. Parts without usage have no row.
 */
export async function sumSpend(
  db: Database,
  asked: Asked,
  grouping: SpendGrouping,
): Promise<SpendRow[]> {
  const { rows } = await (
    grouping === 'session' ? selectBySession(asked) : selectByRollUp(asked, GROUPS[grouping])
  ).execute(db)
  return rows.map(({ day, group, requests, failed_requests: failed, cost }) => ({
    day,
    group,
    requests: Number(requests),
    failedRequests: Number(failed),
    costBilledNanoBrl: BigInt(cost),
  }))
}

interface Row {
  readonly day: string
  readonly group: string | null
  readonly requests: string
  readonly failed_requests: string
  readonly cost: string
}

/** The parts of the period with their exact bounds: the first may begin, and the last end, within a week or month. */
function partsOf({ customerId, from, to, step }: Asked): RawBuilder<unknown> {
  return sql`
    select c.id as customer_id, greatest(s.starts::date, ${from}::date) as day,
      greatest(s.starts::date, ${from}::date)::timestamp at time zone c.timezone as from_at,
      least((s.starts + ${`1 ${step}`}::interval)::date, ${to}::date + 1)::timestamp at time zone c.timezone as until_at
    from customers c, generate_series(
      date_trunc(${step}::text, ${from}::date::timestamp), ${to}::date::timestamp, ${`1 ${step}`}::interval) as s(starts)
    where c.id = ${customerId}`
}

function selectByRollUp(asked: Asked, group: RawBuilder<unknown>): RawBuilder<Row> {
  return sql<Row>`
    with parts as (${partsOf(asked)}
    ), sums as (
      select p.day, ${group} as "group", sum(u.charged_requests) as requests,
        sum(u.released_requests) as failed_requests, sum(u.cost_billed_nano_brl) as cost
      from parts p cross join lateral usage_between(p.customer_id, p.from_at, p.until_at) u
      group by 1, 2
    ), listed as (
      select "group" from sums where "group" is not null
      group by 1 order by sum(cost) desc, 1 limit ${GROUPS_MAX}
    )
    select to_char(s.day, 'YYYY-MM-DD') as day, l."group", sum(s.requests) as requests,
      sum(s.failed_requests) as failed_requests, sum(s.cost) as cost
    from sums s left join listed l using ("group")
    group by s.day, l."group" order by 1, 2`
}

function selectBySession(asked: Asked): RawBuilder<Row> {
  const sessions = sql`
    select session_id, requests, cost_billed_nano_brl, first_request_at from usage_sessions
    where customer_id = ${asked.customerId}`
  return sql<Row>`
    with parts as materialized (${partsOf(asked)}
    ), bounds as (
      select min(from_at) as from_at, max(until_at) as until_at from parts
    ), near as (
      -- Ended in the period, the newest first; or going on after it, among the sessions that ended soonest after it and
      -- those in use now. Reading all that are newer than an old period would take a big account seconds. The bounds are
      -- scalars, not joined: so the index gives the order.
      (${sessions} and last_request_at >= (select from_at from bounds) and last_request_at < (select until_at from bounds)
        order by last_request_at desc, session_id desc limit ${SESSIONS_READ})
      union
      (${sessions} and last_request_at >= (select until_at from bounds)
        order by last_request_at, session_id limit ${SESSIONS_READ})
      union
      (${sessions} and last_request_at >= (select until_at from bounds)
        order by last_request_at desc, session_id desc limit ${SESSIONS_READ})
    ), listed as (
      select session_id from near
      where first_request_at < (select until_at from bounds) and requests <= ${SESSION_REQUESTS_MAX}
      order by cost_billed_nano_brl desc, session_id limit ${GROUPS_MAX}
    ), of_sessions as (
      select p.day, l.session_id, sum(event_charges(e.outcome, e.reason)) as requests,
        count(*) filter (where e.outcome = 'released') as failed, sum(e.cost_billed_nano_brl) as cost
      from parts p cross join listed l join usage_events e on e.customer_id = p.customer_id
        and e.session_id = l.session_id and e.created_at >= p.from_at and e.created_at < p.until_at
      group by 1, 2
    ), whole as (
      select p.day, sum(u.charged_requests) as requests, sum(u.released_requests) as failed,
        sum(u.cost_billed_nano_brl) as cost
      from parts p cross join lateral usage_between(p.customer_id, p.from_at, p.until_at) u group by 1
    )
    select to_char(day, 'YYYY-MM-DD') as day, session_id as "group", requests, failed as failed_requests, cost
    from of_sessions
    union all
    select to_char(w.day, 'YYYY-MM-DD'), null, w.requests - coalesce(sum(o.requests), 0),
      w.failed - coalesce(sum(o.failed), 0), w.cost - coalesce(sum(o.cost), 0)
    from whole w left join of_sessions o using (day) group by w.day, w.requests, w.failed, w.cost
    order by 1, 2`
}
