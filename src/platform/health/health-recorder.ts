/**
 * Counts successes, failures and latencies of upstreams, in memory first and later in the database. A flush whose
 * confirmation is lost may be counted twice; a flush that failed is retried and never lost.
 */
import { sql } from 'kysely'
import type { Database } from '../db/open.ts'
import type { Log } from '../lib/log.ts'
import { bucketOf, LATENCY_BUCKETS } from '../lib/latency-buckets.ts'

/** The result of an attempt at an upstream. */
export interface HealthSample {
  /** The vendor of the model, as shown in the catalog. */
  readonly vendor: string
  readonly upstreamId: string
  readonly ok: boolean
  /** From the request to the first byte of the answer; counted for successful attempts only. */
  readonly firstByteMs: number
}

export interface HealthRecorder {
  /** Safe on the hot path: only increments counters in memory. */
  sample(sample: HealthSample): void
  /** Never rejects: counts that could not be written stay for the next flush, and a warning is logged. */
  flush(): Promise<void>
}

interface HourCounts {
  readonly hourAtMs: number
  readonly upstreamId: string
  readonly vendor: string
  okCount: number
  failedCount: number
  readonly latencyCounts: number[]
}

const HOUR_MS = 3_600_000
/** Enough for days without a database; about 3 MB. */
const PENDING_HOURS_MAX = 2_000

export function createHealthRecorder(deps: {
  readonly db: Database
  readonly log: Log
  /** Milliseconds since 1970. */
  readonly now?: () => number
}): HealthRecorder {
  const { db, log, now = Date.now } = deps
  let pending = new Map<string, HourCounts>()
  /** Most samples belong to the same upstream as the one before; this skips a lookup that takes a microsecond. */
  let last: HourCounts | undefined
  let flushed = Promise.resolve()

  function countsOf(hourAtMs: number, upstreamId: string, vendor: string): HourCounts {
    const isLast =
      last?.hourAtMs === hourAtMs && last.upstreamId === upstreamId && last.vendor === vendor
    last = isLast && last ? last : findCounts(hourAtMs, upstreamId, vendor)
    return last
  }

  function findCounts(hourAtMs: number, upstreamId: string, vendor: string): HourCounts {
    const key = `${hourAtMs}\n${upstreamId}\n${vendor}`
    let counts = pending.get(key)
    if (!counts) {
      if (pending.size >= PENDING_HOURS_MAX) dropOldest()
      const latencyCounts = Array.from({ length: LATENCY_BUCKETS }, () => 0)
      counts = { hourAtMs, upstreamId, vendor, okCount: 0, failedCount: 0, latencyCounts }
      pending.set(key, counts)
    }
    return counts
  }

  /** A map iterates in insertion order, so its first entry is the oldest. */
  function dropOldest(): void {
    const [[key, counts] = []] = pending
    if (key === undefined || counts === undefined) return
    pending.delete(key)
    last = undefined
    const { hourAtMs, upstreamId, okCount, failedCount } = counts
    log.warn('health_samples_dropped', { hourAtMs, upstreamId, okCount, failedCount })
  }

  async function write(): Promise<void> {
    if (pending.size === 0) return
    const taken = pending
    pending = new Map()
    last = undefined
    try {
      await storeCounts(db, [...taken.values()])
    } catch (error) {
      log.warn('health_flush_failed', { hours: taken.size, error })
      // The taken counts are older than any recorded meanwhile, so they stay first in the map.
      const came = pending
      pending = taken
      last = undefined
      for (const counts of came.values())
        addCounts(countsOf(counts.hourAtMs, counts.upstreamId, counts.vendor), counts)
    }
  }

  return {
    sample({ vendor, upstreamId, ok, firstByteMs }) {
      const nowMs = now()
      const counts = countsOf(nowMs - (nowMs % HOUR_MS), upstreamId, vendor)
      if (!ok) {
        counts.failedCount += 1
        return
      }
      counts.okCount += 1
      const bucket = bucketOf(firstByteMs)
      counts.latencyCounts[bucket] = (counts.latencyCounts[bucket] as number) + 1
    },
    flush() {
      flushed = flushed.then(write)
      return flushed
    },
  }
}

function addCounts(to: HourCounts, from: HourCounts): void {
  to.okCount += from.okCount
  to.failedCount += from.failedCount
  for (const [bucket, count] of from.latencyCounts.entries())
    to.latencyCounts[bucket] = (to.latencyCounts[bucket] as number) + count
}

/** All nodes write rows in the same order, so that they cannot deadlock. */
async function storeCounts(db: Database, hours: readonly HourCounts[]): Promise<void> {
  const rows = hours.map((counts) => ({
    hour_at: new Date(counts.hourAtMs).toISOString(),
    upstream_id: counts.upstreamId,
    vendor: counts.vendor,
    ok_count: counts.okCount,
    failed_count: counts.failedCount,
    latency_counts: counts.latencyCounts,
  }))
  await sql`
    insert into upstream_health_hours as stored
      (hour_at, upstream_id, vendor, ok_count, failed_count, latency_counts)
    select hour_at, upstream_id, vendor, ok_count, failed_count, latency_counts
    from json_to_recordset(${JSON.stringify(rows)}::json) as sampled (
      hour_at timestamptz, upstream_id text, vendor text,
      ok_count int8, failed_count int8, latency_counts int8[])
    order by hour_at, upstream_id, vendor
    on conflict (hour_at, upstream_id, vendor) do update set
      ok_count = stored.ok_count + excluded.ok_count,
      failed_count = stored.failed_count + excluded.failed_count,
      latency_counts = add_counts(stored.latency_counts, excluded.latency_counts)`.execute(db)
}
