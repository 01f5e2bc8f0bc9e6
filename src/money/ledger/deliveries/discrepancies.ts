import { sql, type RawBuilder } from 'kysely'
import type { Database } from '../../../platform/db/open.ts'
import type { Log } from '../../../platform/lib/log.ts'
import type { NanoBrl } from '../../../platform/lib/money.ts'
import { COMPARED_AT_ONCE, findDeliveries } from './compare-deliveries.ts'

/** A delivered answer whose charge is missing, or differs from the amount that the client received. */
export interface Discrepancy {
  readonly holdId: string
  readonly nodeId: string
  readonly deliveredNanoBrl: NanoBrl
  /** Null if the hold has no event. */
  readonly storedNanoBrl: NanoBrl | null
}

/** Checks for `audit`: each is a query for violations. */
export const DELIVERY_CHECKS: Readonly<Record<string, RawBuilder<unknown>>> = {
  'every noted delivery is charged with the amount that the client received': sql`
    select hold_id, node_id, delivered_nano_brl, stored_nano_brl, found_at from delivery_discrepancies
    where resolved_at is null`,
}

/** Stores the discrepancies, and logs each of them as an error once. */
export async function storeDiscrepancies(
  db: Database,
  discrepancies: readonly Discrepancy[],
  log: Log,
): Promise<void> {
  for (let start = 0; start < discrepancies.length; start += COMPARED_AT_ONCE) {
    const some = discrepancies.slice(start, start + COMPARED_AT_ONCE)
    const { rows } = await sql<{ hold_id: string; is_new: boolean }>`
      insert into delivery_discrepancies as d (hold_id, node_id, delivered_nano_brl, stored_nano_brl)
      select * from unnest(
        ${some.map(({ holdId }) => holdId)}::uuid[], ${some.map(({ nodeId }) => nodeId)}::uuid[],
        ${some.map(({ deliveredNanoBrl }) => deliveredNanoBrl.toString())}::int8[],
        ${some.map(({ storedNanoBrl }) => storedNanoBrl?.toString() ?? null)}::int8[])
      on conflict (hold_id) do update set
        delivered_nano_brl = excluded.delivered_nano_brl, stored_nano_brl = excluded.stored_nano_brl, resolved_at = null
      returning hold_id, xmax = 0 as is_new`.execute(db)
    const isNew = new Set(rows.filter(({ is_new }) => is_new).map(({ hold_id }) => hold_id))
    for (const { holdId, deliveredNanoBrl, storedNanoBrl } of some) {
      if (isNew.has(holdId))
        log.error('delivery_discrepancy_found', { holdId, deliveredNanoBrl, storedNanoBrl })
    }
  }
}

/** Resolves the discrepancies that a correction has made equal meanwhile. */
export async function recheckDiscrepancies(db: Database): Promise<void> {
  for (let after = '00000000-0000-0000-0000-000000000000'; ;) {
    const open = await db
      .selectFrom('delivery_discrepancies')
      .select(['hold_id', 'delivered_nano_brl'])
      .where('resolved_at', 'is', null)
      .where('hold_id', '>', after)
      .orderBy('hold_id')
      .limit(COMPARED_AT_ONCE)
      .execute()
    if (open.length === 0) return
    const found = await findDeliveries(
      db,
      open.map(({ hold_id }) => hold_id),
    )
    const equal = open.filter(({ hold_id, delivered_nano_brl }) => {
      const stored = found.get(hold_id)
      return stored?.billedNanoBrl === delivered_nano_brl && !stored.isOpen
    })
    if (equal.length > 0) {
      await sql`update delivery_discrepancies set stored_nano_brl = delivered_nano_brl, resolved_at = now()
        where hold_id = any(${equal.map(({ hold_id }) => hold_id)}::uuid[])`.execute(db)
    }
    after = (open.at(-1) as { hold_id: string }).hold_id
  }
}
