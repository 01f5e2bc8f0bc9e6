import { sql } from 'kysely'
import type { Database } from '../../../src/db/open.ts'

/** Rows as text, with the name of their table before it. */
export type Snapshot = ReadonlySet<string>

/** Tables that move by themselves, and why. The jobs have a schema of their own. */
const MOVING: Readonly<Record<string, string>> = {
  nodes: 'each node says every few seconds that it lives',
  rate_windows: 'every call is counted for its key and its address',
  api_key_uses: 'written some seconds after a key was used',
  upstream_health_hours: 'model calls of everybody are counted in it, and it names nobody',
  usage_days: 'a job sums up the days that are over',
  events: 'handed on to mails and webhooks some seconds after they were written',
  mails: 'gone when they are sent',
  webhook_attempts: 'a worker delivers them, and tries again',
  processor_events: 'looked into some seconds after they came',
}
const MOVING_COLUMNS: Readonly<Record<string, string>> = {
  accounts: 'usage_days_until',
  top_ups: 'checked_at',
  webhook_endpoints: 'failing_since',
}

/** Every row of every table, but of those that move by themselves. */
export async function takeSnapshot(db: Database): Promise<Snapshot> {
  const { rows: tables } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
    order by 1`.execute(db)
  const kept = tables.map(({ name }) => name).filter((name) => !(name in MOVING))
  // One statement sees one moment.
  const selects = kept.map(
    (name) => sql`
      select ${name} || ' ' || (to_jsonb(t) - ${MOVING_COLUMNS[name] ?? ''}::text)::text as row
      from ${sql.table(name)} t`,
  )
  const { rows } = await sql<{ row: string }>`${sql.join(selects, sql` union all `)}`.execute(db)
  return new Set(rows.map(({ row }) => row))
}

/** What one has and the other has not. */
export function rowsWithout(snapshot: Snapshot, other: Snapshot): string[] {
  return [...snapshot].filter((row) => !other.has(row)).map((row) => row.slice(0, 500))
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
/** Of the service and not of a customer: they may be shown to everybody. */
const OF_NOBODY = /^(incidents|incident_updates|prices|fx_rates) /

/** Every id that stands in the rows of customers. */
export function idsIn(snapshot: Snapshot): Set<string> {
  const rows = [...snapshot].filter((row) => !OF_NOBODY.test(row))
  return new Set(rows.flatMap((row) => row.match(UUID) ?? []))
}
