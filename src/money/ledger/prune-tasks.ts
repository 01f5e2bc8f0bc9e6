import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'

/** Longer than a call takes, and than the clocks of database and reader differ. */
const KEPT_MINUTES = 60
/** A statement of this size takes milliseconds, for which a call of the same key or address may wait. */
const ROWS_AT_ONCE = 1_000

/**
 * Deletes windows of past minutes: keys that are no longer used, and every address that ever called. Returns their
 * number. A window that a call has locked is skipped, so this never waits for a call and cannot be part of a deadlock.
 */
export async function pruneRateWindows(
  db: Database,
  isOver: () => boolean = () => false,
): Promise<number> {
  let pruned = 0
  while (!isOver()) {
    const { numAffectedRows = 0n } = await sql`
      delete from rate_windows where subject in (
        select subject from rate_windows
        where window_at < now() - make_interval(mins => ${KEPT_MINUTES})
        limit ${ROWS_AT_ONCE} for update skip locked)`.execute(db)
    pruned += Number(numAffectedRows)
    if (numAffectedRows < ROWS_AT_ONCE) break
  }
  return pruned
}

/** A task that rests for longer starts over with its cap. */
export const KEPT_DAYS = 90
const BATCH = 5_000

/** Deletes the sums of tasks without an open hold whose last hold is long past; returns the number of deleted rows. */
export async function pruneTasks(db: Database): Promise<number> {
  let pruned = 0
  for (;;) {
    const { numAffectedRows = 0n } = await sql`
      delete from task_spends where held_nano_brl = 0 and (api_key_id, session_id) in (
        select api_key_id, session_id from task_spends
        where held_nano_brl = 0 and last_held_at < now() - make_interval(days => ${KEPT_DAYS}) limit ${BATCH})`.execute(
      db,
    )
    pruned += Number(numAffectedRows)
    if (numAffectedRows < BigInt(BATCH)) return pruned
  }
}
