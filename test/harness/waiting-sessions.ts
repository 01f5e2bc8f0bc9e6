import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '../../src/platform/db/open.ts'

/** Waits until so many sessions of this database wait for locks of others. */
export async function untilSessionsWait(db: Database, count = 1): Promise<void> {
  for (;;) {
    const { rows } = await sql`
      select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(db)
    if (rows.length >= count) return
    await sleep(5)
  }
}
