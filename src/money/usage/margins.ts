/**
 * Costs and billed amounts of charged calls by day in São Paulo, model and upstream. The cost in BRL uses each charge's
 * own exchange rate, which only the events have: the customers' roll-ups have no rate, and are hardly fewer rows. Each
 * day's events are therefore summed once: a day whose calls are all settled never changes again, and this process caches
 * its few sums. It collects those of the last three months soon after its start. Only the events of open days are read
 * each time.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import type { NanoBrl, PicoUsd } from '../../platform/lib/money.ts'

export const MARGIN_ZONE = 'America/Sao_Paulo' as const

export interface MarginRow {
  /** `YYYY-MM-DD` in São Paulo, when the call began. */
  readonly day: string
  readonly modelId: string
  /** Null if the answering upstream was unknown when the call was settled. */
  readonly upstreamId: string | null
  readonly requests: number
  readonly costPicoUsd: PicoUsd
  /** BRL x 10^16: cost times rate, without rounding. */
  readonly costE16Brl: bigint
  readonly billedNanoBrl: NanoBrl
}

export interface Margins {
  /** Reads the days from `from` to `to`, both inclusive; days, models and upstreams without charges have no row. */
  read(from: string, to: string): Promise<readonly MarginRow[]>
  /** Sums up to a week of the last three months that is not cached yet, the newest days first. */
  prepare(): Promise<void>
}

/** Days per statement, so that the first read of three months is not one long statement. */
const DAYS_AT_ONCE = 7
export const MARGIN_DAYS_MAX = 92
const DAYS_KEPT_MAX = 1_000
const DAY_MS = 86_400_000

export function createMargins(db: Database): Margins {
  const finished = new Map<string, readonly MarginRow[]>()
  let turn: Promise<unknown> = Promise.resolve()

  /** Sums and caches consecutive closed days. */
  async function finish(days: readonly string[]): Promise<void> {
    const [first, last] = [days[0], days.at(-1)]
    if (first === undefined || last === undefined) return
    const found = Map.groupBy(await sumDays(db, first, last), ({ day }) => day)
    for (const day of days) finished.set(day, found.get(day) ?? [])
  }

  async function read(from: string, to: string): Promise<MarginRow[]> {
    const firstOpenDay = await findFirstOpenDay(db)
    const closed = daysBetween(from, to).filter((day) => day < firstOpenDay)
    for (const days of runsOf(closed, (day) => !finished.has(day))) await finish(days)
    const rows = closed.flatMap((day) => finished.get(day) ?? [])
    for (const day of finished.keys()) {
      if (finished.size <= DAYS_KEPT_MAX) break
      finished.delete(day)
    }
    const openFrom = from > firstOpenDay ? from : firstOpenDay
    if (openFrom <= to) rows.push(...(await sumDays(db, openFrom, to)))
    return rows
  }

  async function prepare(): Promise<void> {
    const firstOpenDay = await findFirstOpenDay(db)
    const newest = Date.parse(firstOpenDay) - DAY_MS
    const oldest = newest - (MARGIN_DAYS_MAX - 1) * DAY_MS
    const closed = daysBetween(dayOf(oldest), dayOf(newest))
    await finish(runsOf(closed, (day) => !finished.has(day)).at(-1) ?? [])
  }

  /** Runs calls one after the other, so that a second call for the same days finds them cached. */
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = turn.then(work)
    turn = done.catch(() => {})
    return done
  }

  return {
    read: (from, to) => inTurn(() => read(from, to)),
    prepare: () => inTurn(prepare),
  }
}

/** Splits the wanted days into consecutive runs of at most `DAYS_AT_ONCE` days, the oldest first. */
function runsOf(days: readonly string[], isWanted: (day: string) => boolean): string[][] {
  const runs: string[][] = []
  let open: string[] = []
  for (const day of days) {
    const isNext = isWanted(day)
    if (open.length > 0 && (!isNext || open.length === DAYS_AT_ONCE)) {
      runs.push(open)
      open = []
    }
    if (isNext) open.push(day)
  }
  return open.length > 0 ? [...runs, open] : runs
}

function dayAfter(day: string): string {
  return dayOf(Date.parse(day) + DAY_MS)
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

/** Returns the days as `YYYY-MM-DD`, with both ends. */
export function daysBetween(from: string, to: string): string[] {
  const days: string[] = []
  for (let ms = Date.parse(from); ms <= Date.parse(to); ms += DAY_MS) days.push(dayOf(ms))
  return days
}

/**
 * Events only come from holds, so a past day without open holds is complete. The ten minutes allow for holds whose
 * transactions are not committed yet.
 */
async function findFirstOpenDay(db: Database): Promise<string> {
  const { rows } = await sql<{ day: string }>`
    select (least(now() - interval '10 minutes', (select min(created_at) from holds))
      at time zone ${MARGIN_ZONE})::date::text as day`.execute(db)
  return (rows[0] as { day: string }).day
}

/** The time at which the day begins. */
function startOf(day: string): RawBuilder<unknown> {
  return sql`(${day}::date::timestamp at time zone ${MARGIN_ZONE})`
}

/** The database sums integers by exchange rate; the conversion to BRL happens here, exactly. */
async function sumDays(db: Database, from: string, to: string): Promise<MarginRow[]> {
  const { rows } = await sql<{
    day: string
    model_id: string
    upstream_id: string | null
    fx_rate_e4: number
    requests: string
    cost_pico_usd: string
    billed_nano_brl: string
  }>`
    select (at at time zone ${MARGIN_ZONE})::date::text as day, model_id, upstream_id, fx_rate_e4,
      sum(requests)::text as requests, sum(cost)::text as cost_pico_usd, sum(billed)::text as billed_nano_brl
    from (
      select created_at as at, model_id, upstream_id, fx_rate_e4, event_charges(outcome, reason) as requests,
        cost_upstream_pico_usd as cost, cost_billed_nano_brl as billed
      from usage_events
      where outcome = 'charged' and settled_at >= archived_until()
        and created_at >= ${startOf(from)} and created_at < ${startOf(dayAfter(to))}
      union all
      select hour_at, model_id, upstream_id, fx_rate_e4, requests, cost_pico_usd, billed_nano_brl from archived_hours
      where month < archived_until() and hour_at >= ${startOf(from)} and hour_at < ${startOf(dayAfter(to))}
    ) e
    group by 1, model_id, upstream_id, fx_rate_e4 order by 1, model_id, upstream_id`.execute(db)
  return rows.map((row) => {
    const costPicoUsd = BigInt(row.cost_pico_usd)
    return {
      day: row.day,
      modelId: row.model_id,
      upstreamId: row.upstream_id,
      requests: Number(row.requests),
      costPicoUsd,
      costE16Brl: costPicoUsd * BigInt(row.fx_rate_e4),
      billedNanoBrl: BigInt(row.billed_nano_brl),
    }
  })
}
