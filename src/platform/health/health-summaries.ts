import { sql } from 'kysely'
import type { Database } from '../db/open.ts'
import { LATENCY_BUCKETS, percentileOf } from '../lib/latency-buckets.ts'

/** Longer than the longest window that can be requested. */
const KEPT_DAYS = 100

/** Deletes hours that no request can reach any more; returns the number of deleted rows. */
export async function pruneHealth(db: Database): Promise<number> {
  const result = await sql`
    delete from upstream_health_hours where hour_at < now() - make_interval(days => ${KEPT_DAYS})
  `.execute(db)
  return Number(result.numAffectedRows ?? 0n)
}

/** How long a summary is served from memory, and may be cached by clients. */
export const SUMMARY_AGE_SECONDS_MAX = 30

export interface HealthSummaries {
  find(days: number): Promise<readonly VendorHealth[]>
}

/**
 * Returns the health of each vendor over a window of days. Callers without a key must not be able to load the database,
 * so each window is computed at most once in 30 seconds.
 */
export function createHealthSummaries(db: Database): HealthSummaries {
  const kept = new Map<number, { untilMs: number; vendors: Promise<VendorHealth[]> }>()
  return {
    find(days) {
      const nowMs = performance.now()
      const found = kept.get(days)
      if (found && nowMs < found.untilMs) return found.vendors
      const vendors = summarizeHealth(db, days)
      const entry = { untilMs: nowMs + SUMMARY_AGE_SECONDS_MAX * 1000, vendors }
      kept.set(days, entry)
      vendors.catch(() => {
        if (kept.get(days) === entry) kept.delete(days)
      })
      return vendors
    },
  }
}

/** The health of one vendor's models, over all upstreams. */
export interface VendorHealth {
  readonly vendor: string
  /** Attempts at upstreams, successful and failed. */
  readonly requests: number
  /** At most two decimals, rounded down, so that 100 means no failure at all. */
  readonly uptimePercent: number
  /** Time to the first byte in ms, within 5 %; null if no attempt succeeded. */
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  /** Each day of Brasília with an attempt, the oldest first. */
  readonly byDay: readonly { readonly day: string; readonly uptimePercent: number }[]
}

/** At most two decimals, rounded down. */
function uptimeOf(ok: bigint, failed: bigint): number {
  return Number((ok * 10_000n) / (ok + failed)) / 100
}

/** Sums up the last `days` times 24 hours, sorted by vendor. */
export async function summarizeHealth(db: Database, days: number): Promise<VendorHealth[]> {
  // One sum per bucket reads each row once; unnesting the arrays into rows takes four times as long.
  const sums = Array.from(
    { length: LATENCY_BUCKETS },
    (_, bucket) => sql`sum(latency_counts[${sql.lit(bucket + 1)}])`,
  )
  const { rows } = await sql<{
    vendor: string
    ok_count: bigint
    failed_count: bigint
    latency_counts: number[]
  }>`
    select vendor, sum(ok_count)::int8 as ok_count, sum(failed_count)::int8 as failed_count,
      array[${sql.join(sums)}]::float8[] as latency_counts
    from upstream_health_hours
    where hour_at > now() - make_interval(days => ${days})
    group by vendor
    order by vendor collate "C"`.execute(db)
  const daysOf = await sumDays(db, days)
  return rows.map((row) => ({
    vendor: row.vendor,
    requests: Number(row.ok_count + row.failed_count),
    uptimePercent: uptimeOf(row.ok_count, row.failed_count),
    p50Ms: percentileOf(row.latency_counts, 0.5),
    p95Ms: percentileOf(row.latency_counts, 0.95),
    byDay: daysOf.get(row.vendor) ?? [],
  }))
}

async function sumDays(db: Database, days: number): Promise<Map<string, VendorHealth['byDay']>> {
  const { rows } = await sql<{ vendor: string; day: string; ok: bigint; failed: bigint }>`
    select vendor, to_char(hour_at at time zone 'America/Sao_Paulo', 'YYYY-MM-DD') as day,
      sum(ok_count)::int8 as ok, sum(failed_count)::int8 as failed
    from upstream_health_hours
    where hour_at > now() - make_interval(days => ${days})
    group by 1, 2 order by 1, 2`.execute(db)
  return new Map(
    [...Map.groupBy(rows, ({ vendor }) => vendor)].map(([vendor, own]) => [
      vendor,
      own.map(({ day, ok, failed }) => ({ day, uptimePercent: uptimeOf(ok, failed) })),
    ]),
  )
}

export interface UpstreamAttempts {
  readonly upstreamId: string
  readonly calls: bigint
  readonly failed: bigint
}

/** Sums up the attempts at each upstream, those that failed most first. */
export async function sumAttempts(db: Database, hours: number): Promise<UpstreamAttempts[]> {
  const { rows } = await sql<UpstreamAttempts>`
    select upstream_id as "upstreamId", (sum(ok_count) + sum(failed_count))::int8 as calls,
      sum(failed_count)::int8 as failed
    from upstream_health_hours where hour_at > now() - make_interval(hours => ${hours})
    group by upstream_id order by failed desc, upstream_id`.execute(db)
  return rows
}
