import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'

const DAYS_KEPT = 30
/** Bodies have up to 20 kB, so a batch takes a moment. */
const BATCH = 1_000

/**
 * Deletes attempts that ended long ago, and deleted endpoints without attempts. Returns the number of deleted
 * attempts.
 */
export async function pruneWebhookAttempts(db: Database): Promise<number> {
  await failUndeliverable(db)
  let pruned = 0
  for (;;) {
    const { numAffectedRows = 0n } = await sql`
      delete from webhook_attempts where id in (
        select id from webhook_attempts
        where created_at < now() - make_interval(days => ${DAYS_KEPT}) and status in ('delivered', 'failed')
        order by created_at limit ${BATCH})`.execute(db)
    pruned += Number(numAffectedRows)
    if (numAffectedRows < BATCH) break
  }
  await sql`
    delete from webhook_endpoints e
    where deleted_at < now() - make_interval(days => ${DAYS_KEPT})
      and not exists (select 1 from webhook_attempts a where a.endpoint_id = e.id)`.execute(db)
  return pruned
}

/** Fails attempts that ran when their endpoint was disabled and whose worker was killed then. */
async function failUndeliverable(db: Database): Promise<void> {
  await sql`
    update webhook_attempts a set status = 'failed', error = 'webhook_disabled', finished_at = now()
    from webhook_endpoints e
    where a.status = 'queued' and e.id = a.endpoint_id
      and (e.disabled_at is not null or e.deleted_at is not null)`.execute(db)
}
