import { sql } from 'kysely'
import type { Database } from '../platform/db/open.ts'

/** How many values were sent masked, and how many stood in requests that were blocked. */
export interface ShieldSums {
  readonly masked: number
  readonly blocked: number
}

export interface ShieldReport {
  readonly byKind: readonly (ShieldSums & { readonly kind: string })[]
  /** `YYYY-MM-DD` in the customer's time zone, the oldest first; days without findings are left out. */
  readonly byDay: readonly (ShieldSums & { readonly day: string })[]
  /** The key with the most findings first. */
  readonly byKey: readonly (ShieldSums & { readonly keyId: string; readonly name: string })[]
}

interface Row extends ShieldSums {
  kind: string | null
  day: string | null
  api_key_id: string | null
  name: string | null
}

/** Sums the last `days` days, today included. */
export async function sumShieldCounts(
  db: Database,
  customerId: string,
  days: number,
): Promise<ShieldReport> {
  const { rows } = await sql<Row>`
    with sums as (
      select s.kind, s.day, s.api_key_id,
        coalesce(sum(s.occurrences) filter (where s.action = 'mask'), 0)::float8 as masked,
        coalesce(sum(s.occurrences) filter (where s.action = 'block'), 0)::float8 as blocked
      from shield_counts s join customers c on c.id = s.customer_id
      where s.customer_id = ${customerId} and s.day > (now() at time zone c.timezone)::date - ${days}::int4
      group by grouping sets ((s.kind), (s.day), (s.api_key_id))
    )
    select sums.kind, sums.day::text as day, sums.api_key_id, k.name, masked, blocked
    from sums left join api_keys k on k.id = sums.api_key_id
    order by day, masked + blocked desc, kind, api_key_id`.execute(db)
  return {
    byKind: rows.flatMap(({ kind, masked, blocked }) => (kind ? [{ kind, masked, blocked }] : [])),
    byDay: rows.flatMap(({ day, masked, blocked }) => (day ? [{ day, masked, blocked }] : [])),
    byKey: rows.flatMap(({ api_key_id: keyId, name, masked, blocked }) =>
      keyId && name !== null ? [{ keyId, name, masked, blocked }] : [],
    ),
  }
}
