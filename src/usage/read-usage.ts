import { sql } from 'kysely'
import type { Database } from '../db/open.ts'
import type { UsagePeriod } from './find-usage-period.ts'
import { selectUsageEvents, type UsageEvent } from './usage-event.ts'

export interface ReadUsageEvent extends UsageEvent {
  /** Date and time in the period's zone, `31/01/2026 23:59:59`. */
  readonly localTime: string
}

/** Reading a batch takes the database some milliseconds, and its rows take one or two megabytes here. */
const BATCH = 1_000

/**
 * Yields all charges of a period in batches, oldest first. Each batch is a separate statement, so a slow reader keeps no
 * transaction and no connection open. A charge that is settled meanwhile may or may not be included.
 */
export async function* readUsage(
  db: Database,
  customerId: string,
  period: UsagePeriod,
): AsyncGenerator<readonly ReadUsageEvent[]> {
  let last: { at: string; id: string } | undefined
  for (;;) {
    const rows = await readBatch(db, customerId, period, last)
    yield rows.filter((row) => row.outcome === 'charged')
    const end = rows.at(-1)
    if (!end || rows.length < BATCH) return
    last = { at: end.createdAt, id: end.id }
  }
}

/**
 * Reads released calls as well, which the caller filters out: a statement that skipped them could scan any number of
 * rows.
 */
async function readBatch(
  db: Database,
  customerId: string,
  { timezone, fromAt, untilAt }: UsagePeriod,
  last: { at: string; id: string } | undefined,
): Promise<(ReadUsageEvent & { outcome: 'charged' | 'released' })[]> {
  const behind = last
    ? sql`and (created_at, id) > (${last.at}::timestamptz, ${last.id}::uuid)`
    : sql``
  const { rows } = await selectUsageEvents<{ outcome: 'charged' | 'released'; localTime: string }>(
    sql`
      select * from usage_events
      where customer_id = ${customerId}
        and created_at >= ${last?.at ?? fromAt}::timestamptz and created_at < ${untilAt}::timestamptz ${behind}
      order by created_at, id limit ${BATCH}`,
    'asc',
    sql`, e.outcome, to_char(e.created_at at time zone ${timezone}, 'DD/MM/YYYY HH24:MI:SS') as "localTime"`,
  ).execute(db)
  return rows
}
