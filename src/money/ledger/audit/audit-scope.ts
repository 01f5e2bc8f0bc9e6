/** The scope of one part of the audit: some customers, with their sealed sums and their unsealed events. */
import { sql, type RawBuilder } from 'kysely'
import type { Database } from '../../../platform/db/open.ts'
import { BILLED_PICO_USD } from './audit-event-checks.ts'

/** The customers with ids after `after`, up to and including `until`; null means no limit. */
export interface CustomerRange {
  readonly after: string | null
  readonly upTo: string | null
}

export const ALL_CUSTOMERS: CustomerRange = { after: null, upTo: null }

export interface AuditScope {
  /** The end of the last seal as text, to the microsecond; `-infinity` without a seal. */
  readonly sealedUntil: string
  readonly within: (column: RawBuilder<unknown>) => RawBuilder<boolean>
  /** The rows in scope of a table with a `customer_id`. */
  readonly of: (table: string) => RawBuilder<unknown>
  /** The unsealed events in scope. */
  readonly openEvents: RawBuilder<unknown>
  /** The sums of all events in scope, with the columns of `audit_seal_sums`; a key may have several rows. */
  readonly sums: RawBuilder<unknown>
}

export async function readSealedUntil(db: Database): Promise<string> {
  const { rows } = await sql<{ until: string }>`
    select coalesce(max(to_at), '-infinity')::text as until from audit_seals`.execute(db)
  return (rows[0] as { until: string }).until
}

export function auditScope(sealedUntil: string, { after, upTo }: CustomerRange): AuditScope {
  const within = (column: RawBuilder<unknown>): RawBuilder<boolean> => {
    const from = after === null ? sql`true` : sql`${column} > ${after}::uuid`
    return upTo === null
      ? sql<boolean>`(${from})`
      : sql<boolean>`(${from} and ${column} <= ${upTo}::uuid)`
  }
  const customerId = sql`customer_id`
  const openEvents = sql`(select * from usage_events
    where settled_at >= ${sealedUntil}::timestamptz and ${within(customerId)})`
  return {
    sealedUntil,
    within,
    of: (table) => sql`(select * from ${sql.table(table)} where ${within(customerId)})`,
    openEvents,
    sums: sql`(
      select customer_id, hour_at, api_key_id, model_id, team_id, charged, released, prompt_tokens, completion_tokens,
        cost_pico_usd, billed_nano_brl from audit_seal_sums where ${within(customerId)}
      union all
      select ${SUMMED} from ${openEvents} e group by 1, 2, 3, 4, 5)`,
  }
}

/** The sums of events `e`, as in `audit_seal_sums` without the budgets; to be grouped by the first five. */
export const SUMMED = sql`e.customer_id, date_trunc('hour', e.created_at, 'UTC'), e.api_key_id, e.model_id, e.team_id,
  sum(event_charges(e.outcome, e.reason))::int8, count(*) filter (where e.outcome = 'released'),
  sum(e.prompt_tokens)::int8, sum(e.completion_tokens)::int8,
  sum(e.cost_upstream_pico_usd)::int8, sum(e.cost_billed_nano_brl)::int8`

/** The amounts that count against the budgets of keys, the caps of teams, and the caps of keys for a minute and a day. */
export const SUMMED_FOR_BUDGETS = sql`coalesce(sum(${BILLED_PICO_USD}) filter (where e.in_budget), 0),
  coalesce(sum(e.cost_billed_nano_brl) filter (where e.in_cap), 0)::int8,
  coalesce(sum(e.cost_billed_nano_brl) filter (where e.in_caps & 1 <> 0), 0)::int8,
  coalesce(sum(e.cost_billed_nano_brl) filter (where e.in_caps & 2 <> 0), 0)::int8`
