import { sql } from 'kysely'
import type { Database } from '../../../platform/db/open.ts'
import type { NanoBrl } from '../../../platform/lib/money.ts'

/** What is stored of a hold: the sum of its events, and whether it is open. */
export interface StoredDelivery {
  billedNanoBrl: NanoBrl | null
  isOpen: boolean
}

export const COMPARED_AT_ONCE = 1_000
/** The id has the time of its node, the event that of the database; the clocks may differ by this much. */
const CLOCKS_APART_MS_MAX = 86_400_000

/**
 * Reads at most `COMPARED_AT_ONCE` holds. One statement searches only the months of their ids; a second one searches
 * all months for the holds that the first did not find.
 */
export async function findDeliveries(
  db: Database,
  holdIds: readonly string[],
): Promise<Map<string, StoredDelivery>> {
  const times = holdIds.map(timeOfId)
  const from = new Date(Math.min(...times) - CLOCKS_APART_MS_MAX)
  const to = new Date(Math.max(...times) + CLOCKS_APART_MS_MAX)
  const found = new Map<string, StoredDelivery>()
  await findBetween(db, holdIds, { from, to }, found)
  const missing = holdIds.filter((id) => !found.has(id))
  if (missing.length > 0) await findBetween(db, missing, undefined, found)
  return found
}

async function findBetween(
  db: Database,
  holdIds: readonly string[],
  between: { from: Date; to: Date } | undefined,
  found: Map<string, StoredDelivery>,
): Promise<void> {
  const ids = sql`any(${holdIds}::uuid[])`
  const first = between ? sql`and created_at between ${between.from} and ${between.to}` : sql``
  // A correction has the time at which it was made.
  const later = between ? sql`and created_at >= ${between.from}` : sql``
  const { rows } = await sql<{ id: string; billed: bigint | null; is_open: boolean }>`
    select id, cost_billed_nano_brl as billed, false as is_open from usage_events where id = ${ids} ${first}
    union all
    select corrects_id, cost_billed_nano_brl, false from usage_events where corrects_id = ${ids} ${later}
    union all
    select id, null, true from holds where id = ${ids}`.execute(db)
  for (const { id, billed, is_open } of rows) {
    const stored = found.get(id) ?? { billedNanoBrl: null, isOpen: false }
    if (billed !== null) stored.billedNanoBrl = (stored.billedNanoBrl ?? 0n) + billed
    stored.isOpen ||= is_open
    found.set(id, stored)
  }
}

/** Returns the time in a UUID version 7. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}
