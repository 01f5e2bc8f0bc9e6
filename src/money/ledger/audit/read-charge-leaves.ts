import { sql, type RawBuilder } from 'kysely'
import type { Database } from '../../../platform/db/open.ts'

export interface ChargeLeaf {
  readonly id: string
  readonly leaf: Buffer
}

/**
 * Returns the leaves of the events that were settled in a slice of time, in the order of their tree. `events` are
 * archived ones.
 */
export async function readChargeLeaves(
  db: Database,
  { fromAt, toAt }: { readonly fromAt: string; readonly toAt: string },
  events: RawBuilder<unknown> = sql`usage_events`,
): Promise<ChargeLeaf[]> {
  const { rows } = await sql<ChargeLeaf>`
    select e.id, charge_leaf(e::usage_events) as leaf from ${events} e
    where e.settled_at >= ${fromAt}::timestamptz and e.settled_at < ${toAt}::timestamptz
    order by e.id, e.created_at`.execute(db)
  return rows
}
