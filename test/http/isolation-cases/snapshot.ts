import { sql, type RawBuilder } from 'kysely'
import type { Database } from '../../../src/platform/db/open.ts'

/** Rows as text, with the name of their table before it. */
export type Snapshot = ReadonlySet<string>

/** Tables that move by themselves, also without workers, and why. */
const MOVING: Readonly<Record<string, string>> = {
  nodes: 'the heartbeat of each node renews its lease',
  rate_windows: 'every call is counted for its key and its address',
  sign_in_attempts: 'reports of leaked keys are counted for their network',
  processor_events: 'the processor tells of a top-up soon after it was made',
}

/** Of one database. Where nothing changed since, it is the last one again, and no row is read. */
export function createSnapshots(db: Database): () => Promise<Snapshot> {
  let tables: Promise<readonly string[]> | undefined
  let last: { versions: string; rows: Snapshot } | undefined
  return async () => {
    tables ??= prepare(db)
    await tables
    const { rows: found } = await sql<{ versions: string }>`
      select snapshots.versions() as versions`.execute(db)
    if (last && found[0]?.versions === last.versions) return last.rows
    // One statement sees one moment.
    const { rows } = await sql<{ row: string; versions: string }>`
      select row, versions from (${rowsOf(await tables)}) every_row, snapshots.versions() as versions`.execute(
      db,
    )
    last = { versions: rows[0]?.versions ?? '', rows: new Set(rows.map(({ row }) => row)) }
    return last.rows
  }
}

/**
 * Every table but those that move by themselves. A row that changes becomes a new version, in another place or by another
 * transaction. Their function plans its statement once: the plan for all tables takes fifteen times as long as the work.
 */
async function prepare(db: Database): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
    order by 1`.execute(db)
  const tables = rows.map(({ name }) => name).filter((name) => !(name in MOVING))
  const versions = tables.map(
    (name) => `(select count(*) || ' ' ||
      coalesce(sum(hashtextextended(ctid::text || ' ' || xmin::text, tableoid::bigint)), 0) from public.${name})`,
  )
  await sql`create schema snapshots`.execute(db)
  await sql
    .raw(`create function snapshots.versions() returns text language plpgsql stable as $$
      begin return array_to_string(array[${versions.join()}], ','); end $$`)
    .execute(db)
  return tables
}

function rowsOf(tables: readonly string[]): RawBuilder<unknown> {
  const selects = tables.map(
    (name) =>
      sql`select ${name}::text || ' ' || to_jsonb(t)::text as row from ${sql.table(name)} t`,
  )
  return sql.join(selects, sql` union all `)
}

/** What one has and the other has not. */
export function rowsWithout(snapshot: Snapshot, other: Snapshot): string[] {
  if (snapshot === other) return []
  return [...snapshot].filter((row) => !other.has(row)).map((row) => row.slice(0, 500))
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
/** Of the service and not of a customer: they may be shown to everybody. */
const OF_NOBODY =
  /^(incidents|incident_updates|prices|fx_rates|markup_changes|price_changes|price_differences|disabled_models|added_models) /

/** Every id in the rows of customers. The audit log also names what is of nobody. */
export function idsIn(snapshot: Snapshot): Set<string> {
  const [ofNobody, rows] = [true, false].map((isOfNobody) =>
    [...snapshot].filter((row) => OF_NOBODY.test(row) === isOfNobody),
  ) as [string[], string[]]
  const shown = new Set(ofNobody.map((row) => /"id": ?"([^"]+)"/.exec(row)?.[1]))
  return new Set(rows.flatMap((row) => row.match(UUID) ?? []).filter((id) => !shown.has(id)))
}
