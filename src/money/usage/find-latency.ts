import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'

export interface Latency {
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
