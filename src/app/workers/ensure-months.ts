/**
 * The monthly partitions of `usage_events`, created long before they are needed. The database refuses a settlement
 * whose month has no partition, which then waits in the spool, so the operator is warned while there is time.
 */
import { sql } from 'kysely'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../platform/db/open.ts'
import type { Log } from '../../platform/lib/log.ts'

const MONTHS_AHEAD = 3
/** The number of months ahead below which the operator is warned: every daily run of a month has failed. */
export const MONTHS_AHEAD_MIN = 2
const LOCK_NOT_AVAILABLE = '55P03'
const TRIES_MAX = 10
const PAUSE_MS_MAX = 500

/**
 * Creates the partitions of this month and the next ones. It does not queue for a lock, but retries after a pause.
 * Inside a transaction it makes one attempt, because a failure ends the transaction.
 */
export async function ensureMonths(db: Database, monthsAhead = MONTHS_AHEAD): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await sql`select ensure_usage_partitions(${monthsAhead})`.execute(db)
      return
    } catch (error) {
      const isLocked = (error as { code?: string }).code === LOCK_NOT_AVAILABLE
      if (!isLocked || db.isTransaction || tries >= TRIES_MAX) throw error
    }
    await sleep(Math.random() * PAUSE_MS_MAX)
  }
}

/**
 * Runs at the start of a node and as a daily job. A failure stops the start only if the partition of this month is
 * missing: for later months there is time until the next run.
 */
export async function keepMonthsAhead(
  db: Database,
  log: Log,
  monthsAhead = MONTHS_AHEAD,
): Promise<void> {
  let failure: unknown
  try {
    await ensureMonths(db, monthsAhead)
  } catch (error) {
    failure = error
  }
  const ahead = await countMonthsAhead(db)
  if (ahead < MONTHS_AHEAD_MIN)
    log.error('usage_months_short', { monthsAhead: ahead, error: failure })
  else if (failure) log.warn('usage_months_not_made', { monthsAhead: ahead, error: failure })
  if (failure && ahead < 0) throw failure
}

/** Returns the number of consecutive months after this one that have a partition; -1 if this month has none. */
export async function countMonthsAhead(db: Database): Promise<number> {
  const { rows } = await sql<{ ahead: number }>`
    select n - 1 as ahead from generate_series(0, 1200) n
    where not exists (
      select 1 from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'usage_events'::regclass and c.relname = 'usage_events_' ||
        to_char(date_trunc('month', now() at time zone 'UTC') + make_interval(months => n), 'YYYY_MM'))
    order by n limit 1`.execute(db)
  return rows[0]?.ahead ?? 0
}
