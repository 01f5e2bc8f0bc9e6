import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Selectable } from 'kysely'
import type { Tables } from '../../src/platform/db/tables.ts'
import type { TestDatabase } from '../harness/test-database.ts'

export type UsageEvent = Selectable<Tables['usage_events']>

/** How the holds of a request ended, in the order of the holds; waits until none of them is open. */
export async function resolutionsOf(
  { db }: TestDatabase,
  requestId: string,
  withinMs = 15_000,
): Promise<UsageEvent[]> {
  for (const deadline = Date.now() + withinMs; ; await sleep(20)) {
    // In this order a hold that is resolved in between is seen twice rather than not at all.
    const open = await db
      .selectFrom('holds')
      .select('id')
      .where('request_id', '=', requestId)
      .execute()
    const events = await db
      .selectFrom('usage_events')
      .selectAll()
      .where('request_id', '=', requestId)
      .orderBy('created_at')
      .orderBy('id')
      .execute()
    if (open.length === 0) return events
    assert.ok(Date.now() < deadline, `a hold of ${requestId} stays`)
  }
}
