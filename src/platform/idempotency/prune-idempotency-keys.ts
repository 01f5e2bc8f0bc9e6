import { sql } from 'kysely'
import type { Database } from '../db/open.ts'
import { IDEMPOTENCY_HOURS } from './idempotency-records.ts'

const BATCH = 1_000

export async function pruneIdempotencyKeys(
  db: Database,
  isOver: () => boolean = () => false,
): Promise<void> {
  for (let deleted = BATCH; deleted === BATCH && !isOver();) {
    const { numAffectedRows } = await sql`
      delete from idempotency_keys where id in (
        select id from idempotency_keys
        where created_at <= now() - make_interval(hours => ${IDEMPOTENCY_HOURS})
        order by created_at limit ${BATCH})`.execute(db)
    deleted = Number(numAffectedRows)
  }
}
