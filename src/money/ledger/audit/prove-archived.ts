/**
 * Proves archived months. Their balances, roll-ups and budgets are proved by the sums of their seals in every audit; a
 * full audit, and the act that archives a month, read the files back: each must have the bytes that were archived, its
 * rows must hash to what the seals say, and the arithmetic of each charge is repeated.
 */
import { sql, type RawBuilder } from 'kysely'
import { MissingFile } from '../../../platform/archive/archive-store.ts'
import type {
  ArchivedFile,
  EventArchive,
  OpenEventFile,
} from '../../../platform/archive/event-archive.ts'
import { eventsIn } from '../../../platform/archive/event-columns.ts'
import type { Database } from '../../../platform/db/open.ts'
import { eventChecks, type Checks } from './audit-event-checks.ts'
import { chargesRoot } from './audit-seals.ts'
import { ROWS, sealDiffers, TREE } from './seal-differs.ts'

export const FILES = 'archived files are as they were archived'
const COVERED = 'every seal of an archived month is in one file'
const HOLDS = 'no open hold began in an archived month'
const SUMS = 'archived hours, and the times of archived files, are those of the events in the files'

export type RunChecks = (db: Database, checks: Checks) => Promise<void>

export interface ArchivedMonthProof {
  /** `2025-03` */
  readonly month: string
  /** By its files, or by the sums of its seals alone. */
  readonly by: 'files' | 'sums'
  /** Why a full audit did not read all its files. */
  readonly why?: string
}

/** What every audit checks without the files. */
export const ARCHIVE_CHECKS: Checks = {
  [COVERED]: sql`
    select s.number, s.from_at, s.to_at, count(f) as files from audit_seals s
    left join archived_files f on s.number between f.first_seal and f.last_seal
    where s.to_at <= archived_until() group by s.number having count(f) <> 1`,
  [HOLDS]: sql`select id, created_at from holds where created_at < archived_until()`,
}

/** A full audit reads the files, any other one only lists the months. */
export async function proveArchived(
  db: Database,
  { archive, isFull, run }: { archive: EventArchive | undefined; isFull: boolean; run: RunChecks },
): Promise<ArchivedMonthProof[]> {
  await run(db, ARCHIVE_CHECKS)
  const { rows } = await sql<{ month: string }>`
    select month from archived_months where archived_at is not null order by month`.execute(db)
  const proofs: ArchivedMonthProof[] = []
  for (const { month } of rows) {
    const name = month.slice(0, 7)
    if (!isFull) proofs.push({ month: name, by: 'sums' })
    else {
      const why = archive
        ? await proveMonth(db, archive, month, run)
        : 'no archive is configured: ARCHIVE_DIR'
      if (!archive) await run(db, { [FILES]: fault(name, why) })
      proofs.push(
        why === undefined ? { month: name, by: 'files' } : { month: name, by: 'sums', why },
      )
    }
  }
  return proofs
}

/** Returns why a file could not be read. That is a breach too: the full audit proves each file or fails. */
async function proveMonth(
  db: Database,
  archive: EventArchive,
  month: string,
  run: RunChecks,
): Promise<string | undefined> {
  let why: string | undefined
  let isWhole = true
  const parts: unknown[] = []
  for (const file of await listArchivedFiles(db, month)) {
    let found: string | undefined
    try {
      found = await proveStored(db, archive, file, { run, parts })
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      found = why = error.message
    }
    await run(db, { [FILES]: fault(file.name, found) })
    isWhole &&= found === undefined
  }
  if (isWhole) await run(db, { [SUMS]: sumsDiffer(month, parts) })
  return why
}

/** Sums of events of one file, by hour, model, upstream and rate, as JSON. */
async function sumParts(
  db: Database,
  name: string,
  archived: (query: RawBuilder<unknown>) => RawBuilder<unknown>,
): Promise<unknown[]> {
  const { rows } = await sql<{ parts: unknown[] }>`${archived(sql`
    select coalesce(json_agg(p), '[]') as parts from (
      select ${name}::text as name, date_trunc('hour', created_at, 'UTC') as hour_at, model_id, upstream_id, fx_rate_e4,
        coalesce(sum(event_charges(outcome, reason)) filter (where outcome = 'charged'), 0) as requests,
        count(*) filter (where outcome = 'charged') as charged, sum(cost_upstream_pico_usd)::text as cost_pico_usd,
        sum(cost_billed_nano_brl)::text as billed_nano_brl, min(created_at) as first_at, max(created_at) as last_at, count(*) as events
      from archived e group by 2, 3, 4, 5) p`)}`.execute(db)
  return (rows[0] as { parts: unknown[] }).parts
}

function sumsDiffer(month: string, parts: readonly unknown[]): RawBuilder<unknown> {
  return sql`
    with parts as materialized (
      select * from json_to_recordset(${JSON.stringify(parts)}::json) as p(name text, hour_at timestamptz, model_id text,
        upstream_id text, fx_rate_e4 int4, requests int8, charged int8, cost_pico_usd int8, billed_nano_brl int8,
        first_at timestamptz, last_at timestamptz, events int8)
    ), hours as (
      select hour_at::text, model_id, upstream_id, fx_rate_e4, sum(requests) as requests, sum(cost_pico_usd) as cost, sum(billed_nano_brl) as billed
      from parts group by 1, 2, 3, 4 having sum(charged) > 0
    ), stored as (
      select hour_at::text, model_id, upstream_id, fx_rate_e4, requests, cost_pico_usd, billed_nano_brl from archived_hours where month = ${month}::date
    )
    (select to_jsonb(h) as differs from (table hours except table stored) h)
    union all (select to_jsonb(h) from (table stored except table hours) h)
    union all
    select to_jsonb(f) from (select *, row_number() over (order by first_seal) as place from archived_files where month = ${month}::date) f
    left join (select name, min(first_at) as first_at, max(last_at) as last_at, sum(events) as events from parts group by 1) p using (name)
    where f.number <> f.place or f.events <> coalesce(p.events, 0) or (f.created_from, f.created_to) is distinct from (p.first_at, p.last_at)`
}

/** Thrown when reading failed by the archive's fault, not by the database's. */
class Unreadable extends Error {}

async function proveStored(
  db: Database,
  archive: EventArchive,
  file: ArchivedFile,
  { run, parts }: { readonly run: RunChecks; readonly parts: unknown[] },
): Promise<'missing' | 'changed' | undefined> {
  const unreadable = (error: unknown): never => {
    throw new Unreadable(`${archive.place} cannot be read: ${String(error)}`)
  }
  const opened = await archive
    .openFile(file)
    .catch((error: unknown) => (error instanceof MissingFile ? undefined : unreadable(error)))
  if (!opened) return 'missing'
  try {
    if (!opened.isIntact) return 'changed'
    const readSlice: OpenEventFile['readSlice'] = (slice) =>
      opened.readSlice(slice).catch(unreadable)
    await proveFile(db, { readSlice }, file, run, {
      charges: true,
      async afterSlice(archived) {
        parts.push(...(await sumParts(db, file.name, archived)))
      },
    })
    return undefined
  } finally {
    await opened.close()
  }
}

function fault(file: string, found: string | undefined): RawBuilder<unknown> {
  return sql`select ${file}::text as file, ${found ?? null}::text as fault where ${found !== undefined}`
}

export async function listArchivedFiles(db: Database, month: string): Promise<ArchivedFile[]> {
  const rows = await db
    .selectFrom('archived_files')
    .selectAll()
    .where('month', '=', month)
    .orderBy('number')
    .execute()
  return rows.map((row) => ({
    month: row.month,
    name: row.name,
    firstSeal: row.first_seal,
    lastSeal: row.last_seal,
    events: row.events,
    bytes: Number(row.bytes),
    sha256: row.sha256,
    sumsHash: row.sums_hash,
  }))
}

interface SealOfFile {
  readonly number: bigint
  readonly from_at: string
  readonly to_at: string
  readonly charges_root: Buffer
}

interface ProveFileOptions {
  readonly charges: boolean
  /** `archived` makes a query of `archived`, which are the events of the slice. */
  readonly afterSlice?: (
    archived: (query: RawBuilder<unknown>) => RawBuilder<unknown>,
  ) => Promise<void>
}

/** Compares each slice of a file with its seal, by the database's own functions; `charges` repeats their arithmetic. */
export async function proveFile(
  db: Database,
  opened: Pick<OpenEventFile, 'readSlice'>,
  file: Pick<ArchivedFile, 'firstSeal' | 'lastSeal'>,
  run: RunChecks,
  { charges, afterSlice }: ProveFileOptions,
): Promise<void> {
  const { rows: seals } = await sql<SealOfFile>`
    select number, from_at::text, to_at::text, charges_root from audit_seals
    where number between ${file.firstSeal} and ${file.lastSeal} order by number`.execute(db)
  for (const seal of seals) {
    const slice = { fromAt: seal.from_at, toAt: seal.to_at }
    const lines = await opened.readSlice(slice)
    const archived = (query: RawBuilder<unknown>) => sql`
      with archived as materialized (select * from ${eventsIn(lines)} l) ${query}`
    await run(db, { [ROWS]: archived(sealDiffers(seal.number, slice, sql`archived`)) })
    const root = await chargesRoot(db, slice, eventsIn(lines))
    await run(db, {
      [TREE]: root.equals(seal.charges_root)
        ? sql`select 1 where false`
        : sql`select ${seal.number}::int8 as number`,
    })
    const checks = charges && lines.length > 0 ? eventChecks(sql`archived`) : {}
    for (const [name, query] of Object.entries(checks)) await run(db, { [name]: archived(query) })
    await afterSlice?.(archived)
  }
}

/**
 * Locks which months are archived. Until the end of the transaction, no month becomes archived (`to read`), or nobody
 * relies on which are (`to change`).
 */
export async function lockArchived(trx: Database, use: 'to read' | 'to change'): Promise<void> {
  const key = sql`hashtextextended('archived months', 0)`
  await (
    use === 'to read'
      ? sql`select pg_advisory_xact_lock_shared(${key})`
      : sql`select pg_advisory_xact_lock(${key})`
  ).execute(trx)
}
