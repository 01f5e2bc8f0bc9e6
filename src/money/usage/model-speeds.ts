/**
 * How fast models answer: the time to the first byte, and the tokens per second after it, of everybody's streamed calls.
 * A job sums the events of each finished hour once, so that neither a call nor a reader pays for it. A number is shown
 * only if enough calls of enough customers are behind it, and never how many: nobody reads another's use from it.
 */
import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import { withoutTimeout } from '../../platform/db/without-timeout.ts'
import { LATENCY_BUCKETS, percentileOf, sqlBucketOf } from '../../platform/lib/latency-buckets.ts'
import { CACHE_UPSTREAM } from './usage-event.ts'

/** The window of all sums, with the day that has begun. */
export const SPEED_DAYS = 30
/** A number is shown only with so many calls, and customers, behind it. */
export const SHOWN_FROM = { calls: 10, customers: 3 }
/** The pauses between the chunks of fewer tokens say nothing. */
const PACE_TOKENS_MIN = 20
/** Sums change once in an hour. */
export const SPEED_AGE_SECONDS_MAX = 300

const KEPT_DAYS = 100
const ZONE = 'America/Sao_Paulo'
/** A settlement is seen by others so long after its own time, at most. */
const LATE_SECONDS = 300
/** After a longer pause of the job, the hours before are left out. */
const HOURS_BACK = 6
/** As much is one statement: 20 microseconds for a streamed answer, of which there may be a thousand in a second. */
const PART_MINUTES = 5
const PART = sql`make_interval(mins => ${sql.lit(PART_MINUTES)})`
/** A call is settled so long after its hold, at most; of one that took longer, nobody asks how fast it was. */
const CALL_DAYS_MAX = 1

/** The medians; null with too few calls or customers. */
export interface Speed {
  /** From the request to the upstream to the first byte of its answer, within 5 %. */
  readonly firstByteMs: number | null
  /** After the first byte, within 5 %. */
  readonly tokensPerSecond: number | null
}

export interface ModelSpeed extends Speed {
  readonly modelId: string
}

export interface DaySpeed extends Speed {
  /** In Brasília. */
  readonly day: string
}

/**
 * Adds the hours that ended since the last run. May be killed at any line and run beside itself: a part of an hour is
 * one statement, which leaves out the models that already have it.
 */
export async function sumModelSpeeds(db: Database): Promise<void> {
  const { rows } = await sql<{ from_at: Date }>`
    select generate_series(
      greatest(ended - make_interval(hours => ${HOURS_BACK}),
        (select max(until_at) from model_speed_days where day > (now() at time zone ${ZONE})::date - 2)),
      ended - ${PART}, ${PART}) as from_at
    from date_trunc('hour', now() - make_interval(secs => ${LATE_SECONDS}), 'UTC') as ended`.execute(
    db,
  )
  for (const { from_at: from } of rows) await withoutTimeout(db, (trx) => sumPart(trx, from))
}

/**
 * Only whole answers at the upstream's own count, of streams: any other has its first byte with its last. With tokens of
 * reasoning nobody knows how many came before the first byte, so those calls have no pace.
 */
async function sumPart(trx: Database, from: Date): Promise<void> {
  await sql`
    with measured as (
      select model_id, customer_id, first_byte_ms,
        case when completion_tokens >= ${PACE_TOKENS_MIN} and reasoning_tokens = 0 and duration_ms > first_byte_ms
          then completion_tokens * 1000.0 / (duration_ms - first_byte_ms) end as pace
      from usage_events
      where settled_at >= ${from} and settled_at < ${from}::timestamptz + ${PART}
        and created_at >= ${from}::timestamptz - make_interval(days => ${CALL_DAYS_MAX})
        and outcome = 'charged' and usage_kind = 'exact' and reason is null and corrects_id is null
        and is_stream and first_byte_ms is not null and upstream_id is distinct from ${CACHE_UPSTREAM}
    ), samples as (
      select model_id, 1::int8 << (get_byte(sha256(uuid_send(customer_id)), 0) & 63) as customer, figure, value
      from measured cross join lateral (values (0, first_byte_ms::float8), (1, pace::float8)) as of (figure, value)
      where value is not null
    ), counted as (
      select model_id, figure, ${sql.raw(sqlBucketOf('value'))} as bucket, count(*)::int8 as calls,
        bit_or(customer) as customers
      from samples group by 1, 2, 3
    ), figures as (
      select model_id, figure, array_agg(coalesce(calls, 0) order by bucket) as counts,
        coalesce(bit_or(customers), 0) as customers
      from (select distinct model_id from counted) as models
      cross join generate_series(0, 1) as figure
      cross join generate_series(0, ${sql.lit(LATENCY_BUCKETS - 1)}) as bucket
      left join counted using (model_id, figure, bucket)
      group by 1, 2
    )
    insert into model_speed_days as stored
      (model_id, day, until_at, first_byte_counts, first_byte_customers, pace_counts, pace_customers)
    select model_id, (${from}::timestamptz at time zone ${ZONE})::date,
      ${from}::timestamptz + ${PART}, first.counts, first.customers, pace.counts, pace.customers
    from figures as first join figures as pace using (model_id)
    where first.figure = 0 and pace.figure = 1
    order by model_id
    on conflict (model_id, day) do update set
      until_at = excluded.until_at,
      first_byte_counts = add_counts(stored.first_byte_counts, excluded.first_byte_counts),
      first_byte_customers = stored.first_byte_customers | excluded.first_byte_customers,
      pace_counts = add_counts(stored.pace_counts, excluded.pace_counts),
      pace_customers = stored.pace_customers | excluded.pace_customers
    where stored.until_at < excluded.until_at`.execute(trx)
}

/** Deletes days that no request can reach any more; returns the number of deleted rows. */
export async function pruneModelSpeeds(db: Database): Promise<number> {
  const result = await sql`
    delete from model_speed_days where day < (now() at time zone ${ZONE})::date - ${sql.lit(KEPT_DAYS)}
  `.execute(db)
  return Number(result.numAffectedRows ?? 0n)
}

export interface ModelSpeeds {
  /** Each model with a number to show, by its id. */
  list(): Promise<readonly ModelSpeed[]>
  /** The days on which a model has a number to show, the oldest first. */
  listDays(modelId: string): Promise<readonly DaySpeed[]>
}

/**
 * Callers without a key must not be able to load the database, so each answer is computed at most once in five minutes.
 * `listDays` is asked for models of the catalog only.
 */
export function createModelSpeeds(db: Database): ModelSpeeds {
  const days = new Map<string, () => Promise<readonly DaySpeed[]>>()
  return {
    list: kept(() => readModels(db)),
    listDays(modelId) {
      const found = days.get(modelId) ?? kept(() => readDays(db, modelId))
      days.set(modelId, found)
      return found()
    },
  }
}

function kept<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let last: { readonly untilMs: number; readonly value: Promise<Value> } | undefined
  return () => {
    const nowMs = performance.now()
    if (last && nowMs < last.untilMs) return last.value
    const entry = { untilMs: nowMs + SPEED_AGE_SECONDS_MAX * 1000, value: read() }
    last = entry
    entry.value.catch(() => {
      if (last === entry) last = undefined
    })
    return entry.value
  }
}

interface Sums {
  readonly first_byte_counts: readonly number[]
  readonly first_byte_customers: bigint
  readonly pace_counts: readonly number[]
  readonly pace_customers: bigint
}

const IN_WINDOW = sql`day > (now() at time zone ${ZONE})::date - ${sql.lit(SPEED_DAYS)}`

async function readModels(db: Database): Promise<readonly ModelSpeed[]> {
  const sumOf = (counts: string) =>
    sql.join(
      Array.from(
        { length: LATENCY_BUCKETS },
        (_, bucket) => sql`sum(${sql.ref(counts)}[${sql.lit(bucket + 1)}])`,
      ),
    )
  const { rows } = await sql<Sums & { model_id: string }>`
    select model_id,
      array[${sumOf('first_byte_counts')}]::float8[] as first_byte_counts,
      bit_or(first_byte_customers) as first_byte_customers,
      array[${sumOf('pace_counts')}]::float8[] as pace_counts,
      bit_or(pace_customers) as pace_customers
    from model_speed_days where ${IN_WINDOW}
    group by model_id order by model_id collate "C"`.execute(db)
  return rows.map((row) => ({ modelId: row.model_id, ...speedOf(row) })).filter(isShown)
}

async function readDays(db: Database, modelId: string): Promise<readonly DaySpeed[]> {
  const { rows } = await sql<Sums & { day: string }>`
    select day::text, first_byte_counts::float8[], first_byte_customers, pace_counts::float8[], pace_customers
    from model_speed_days where model_id = ${modelId} and ${IN_WINDOW} order by model_speed_days.day`.execute(
    db,
  )
  return rows.map((row) => ({ day: row.day, ...speedOf(row) })).filter(isShown)
}

function speedOf(sums: Sums): Speed {
  return {
    firstByteMs: medianOf(sums.first_byte_counts, sums.first_byte_customers),
    tokensPerSecond: medianOf(sums.pace_counts, sums.pace_customers),
  }
}

function medianOf(counts: readonly number[], customers: bigint): number | null {
  const calls = counts.reduce((sum, count) => sum + count, 0)
  if (calls < SHOWN_FROM.calls || bitsIn(customers) < SHOWN_FROM.customers) return null
  return percentileOf(counts, 0.5)
}

/** Two customers may share a bit, so this is never more than there are. */
function bitsIn(customers: bigint): number {
  return BigInt.asUintN(64, customers).toString(2).replaceAll('0', '').length
}

function isShown({ firstByteMs, tokensPerSecond }: Speed): boolean {
  return firstByteMs !== null || tokensPerSecond !== null
}
