import { sql } from 'kysely'
import type { Database } from '../db/open.ts'
import type { UsagePeriod } from './find-usage-period.ts'
import { selectUsageEvents, type UsageEvent } from './usage-event.ts'

export interface ReadUsageEvent extends UsageEvent {
  /** Date and time in the period's zone, `31/01/2026 23:59:59`. */
  readonly localTime: string
}

/** Some milliseconds' work for the database, and with its rows one or two megabytes here. */
const BATCH = 1_000

/**
 * All charges of a period, oldest first, some at a time. Each batch is a statement of its own: however
 * slowly they are taken, no transaction and no connection waits. What is settled while it runs may be in
 * it or not.
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
 * Released calls are read as well and left out afterwards: a statement that skipped them would have to go
 * over any number of them.
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
