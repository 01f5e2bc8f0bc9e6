import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'

/** The usage of minutes, in requests or in tokens. */
export interface MinuteUse {
  readonly current: number
  readonly total: number
  /** The maximum in one minute; 0 without usage. */
  readonly peak: number
  readonly peakAt: Date | null
}

export interface KeyMinutes {
  readonly requests: MinuteUse
  readonly tokens: MinuteUse
}

/** The counters of a key's rate limits in the current minute, which include refused calls. */
export interface CountedNow {
  readonly requests: number
  readonly tokens: number
}

export interface UseByMinute {
  /** By key, for keys with calls in the window, which includes the current minute. */
  readonly settled: ReadonlyMap<string, KeyMinutes>
  /** By key, for keys with calls in the current minute; tokens are counted only if the key limits them. */
  readonly counted: ReadonlyMap<string, CountedNow>
}

/**
 * Sums calls by the minute in which they began, which is also the minute of the rate limits. It reads the events, because
 * roll-ups have no minutes, so the window must be a few hours at most.
 */
export async function sumUsageByMinute(
  db: Database,
  customerId: string,
  minutes: number,
): Promise<UseByMinute> {
  const [settled, counted] = await Promise.all([
    readSettled(db, customerId, minutes),
    readCounted(db, customerId),
  ])
  return { settled, counted }
}

interface SettledRow {
  api_key_id: string
  requests_now: bigint
  requests_total: bigint
  requests_peak: bigint
  requests_peak_at: Date
  tokens_now: bigint
  tokens_total: bigint
  tokens_peak: bigint
  tokens_peak_at: Date
}

async function readSettled(
  db: Database,
  customerId: string,
  minutes: number,
): Promise<Map<string, KeyMinutes>> {
  const { rows } = await sql<SettledRow>`
    with by_minute as (
      select api_key_id, date_trunc('minute', created_at) as minute_at, count(*) as requests,
        sum(prompt_tokens::int8 + completion_tokens)::int8 as tokens
      from usage_events
      where customer_id = ${customerId}
        and created_at >= date_trunc('minute', now()) - make_interval(mins => ${minutes - 1})
      group by 1, 2
    )
    select api_key_id,
      coalesce(sum(requests) filter (where minute_at = date_trunc('minute', now())), 0)::int8 as requests_now,
      sum(requests)::int8 as requests_total, max(requests) as requests_peak,
      (array_agg(minute_at order by requests desc, minute_at desc))[1] as requests_peak_at,
      coalesce(sum(tokens) filter (where minute_at = date_trunc('minute', now())), 0)::int8 as tokens_now,
      sum(tokens)::int8 as tokens_total, max(tokens) as tokens_peak,
      (array_agg(minute_at order by tokens desc, minute_at desc))[1] as tokens_peak_at
    from by_minute group by 1`.execute(db)
  return new Map(rows.map((row) => [row.api_key_id, toKeyMinutes(row)]))
}

function toKeyMinutes(row: SettledRow): KeyMinutes {
  const hasTokens = row.tokens_peak > 0n
  return {
    requests: {
      current: Number(row.requests_now),
      total: Number(row.requests_total),
      peak: Number(row.requests_peak),
      peakAt: row.requests_peak_at,
    },
    tokens: {
      current: Number(row.tokens_now),
      total: Number(row.tokens_total),
      peak: Number(row.tokens_peak),
      peakAt: hasTokens ? row.tokens_peak_at : null,
    },
  }
}

/** The row of a past minute stays until the key's next call, hence the condition on the time. */
async function readCounted(db: Database, customerId: string): Promise<Map<string, CountedNow>> {
  const { rows } = await sql<{ id: string; requests: bigint; tokens: bigint }>`
    select k.id, w.requests, w.tokens
    from api_keys k join rate_windows w on w.subject = 'k:' || k.id
    where k.customer_id = ${customerId} and k.revoked_at is null and w.window_at = date_trunc('minute', now())`.execute(
    db,
  )
  return new Map(
    rows.map(({ id, requests, tokens }) => [
      id,
      { requests: Number(requests), tokens: Number(tokens) },
    ]),
  )
}
