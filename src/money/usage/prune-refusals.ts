import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'

const DAYS_KEPT = 90
const BATCH = 5_000

/** Deletes the counts that are older, in short transactions; returns the number of deleted rows. */
export async function pruneRefusals(
  db: Database,
  isOver: () => boolean = () => false,
): Promise<number> {
  let pruned = 0
  for (let last = BATCH; last === BATCH && !isOver(); pruned += last) last = await deleteBatch(db)
  return pruned
}

async function deleteBatch(db: Database): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from usage_refusals where (customer_id, hour_at, id) in (
      select customer_id, hour_at, id from usage_refusals
      where hour_at < now() - make_interval(days => ${DAYS_KEPT}) limit ${BATCH})`.execute(db)
  return Number(numAffectedRows)
}
