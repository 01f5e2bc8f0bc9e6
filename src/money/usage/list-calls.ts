import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import { listOutcomes, type UsageList } from './list-usage-events.ts'
import type { CallOutcome, UsageEvent } from './usage-event.ts'

/** A call that reached a hold: charged, or failed and free. */
export interface Call extends UsageEvent {
  readonly outcome: CallOutcome
  /** Of a failure, in the gateway's own words. */
  readonly reason: string | null
  readonly isStream: boolean
  /** From the request to the model; null where it was not measured. */
  readonly firstByteMs: number | null
  readonly durationMs: number | null
  readonly priceId: number
}

type CallColumns = Omit<Call, keyof UsageEvent>

/** Returns the customer's calls, newest first. */
export function listCalls(
  db: Database,
  list: UsageList,
  outcomes: readonly CallOutcome[],
): Promise<Call[]> {
  return listOutcomes<CallColumns>(
    db,
    list,
    outcomes,
    sql`, e.outcome, e.reason, e.is_stream as "isStream", e.first_byte_ms as "firstByteMs",
      e.duration_ms as "durationMs", e.price_id as "priceId"`,
  )
}
