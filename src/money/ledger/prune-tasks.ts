import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'

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
