import { sql } from 'kysely'
import type { Database } from '../db/open.ts'
import { LATENCY_BUCKETS, percentileMs } from './latency-buckets.ts'

/** How the models of one maker were served, by whichever upstreams. */
export interface VendorHealth {
  readonly vendor: string
  /** Attempts at upstreams, good and failed. */
  readonly requests: number
  /** Two decimals at most, rounded down: 100 is shown only where nothing failed. */
  readonly uptimePercent: number
  /** To the first byte, in ms, within 5 %; null where no attempt was good. */
  readonly p50Ms: number | null
  readonly p95Ms: number | null
}

/** The last `days` times 24 hours, by the name of the maker. */
export async function summarizeHealth(db: Database, days: number): Promise<VendorHealth[]> {
  // One sum for each bucket reads a row once; taking the arrays apart into rows takes four times as long.
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
  return rows.map((row) => {
    const requests = row.ok_count + row.failed_count
    return {
      vendor: row.vendor,
      requests: Number(requests),
      uptimePercent: Number((row.ok_count * 10_000n) / requests) / 100,
      p50Ms: percentileMs(row.latency_counts, 0.5),
      p95Ms: percentileMs(row.latency_counts, 0.95),
    }
  })
}
