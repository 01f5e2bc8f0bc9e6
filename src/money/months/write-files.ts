/** Writes a month's events to files and reads each back: whole seals, of some hundred thousand events together. */
import { sql } from 'kysely'
import type { ArchiveStore } from '../../platform/archive/archive-store.ts'
import { openWorkDir, type EventArchive } from '../../platform/archive/event-archive.ts'
import { EVENT_LINE } from '../../platform/archive/event-columns.ts'
import {
  digestFile,
  hashAccounts,
  sumAccounts,
  writeEventFile,
  type AccountSums,
  type EventLine,
} from '../../platform/archive/event-file.ts'
import { ensureSessionKeys, sealSession } from '../../platform/archive/session-cipher.ts'
import type { Database } from '../../platform/db/open.ts'
import { withoutTimeout } from '../../platform/db/without-timeout.ts'
import { listArchivedFiles, proveFile } from '../ledger/audit/prove-archived.ts'
import { ArchiveFault, boundsOf, firstDay, type Month } from './month.ts'

export const FILE_EVENTS_MAX = 500_000

interface Seal {
  readonly number: bigint
  readonly from_at: string
  readonly to_at: string
  readonly events: bigint
}

/**
 * The attempt that writes: `renew` keeps the month for it, or throws. What it stores in the database renews first in the
 * same transaction: a process that was stopped for longer than its lease adds nothing to what another one stores.
 */
export interface Attempt {
  readonly month: Month
  readonly run: string
  readonly renew: (trx?: Database) => Promise<void>
}

export function folderOf({ month, run }: Pick<Attempt, 'month' | 'run'>): string {
  return `usage/${month}-${run}`
}

export async function writeFiles(
  db: Database,
  store: ArchiveStore,
  attempt: Attempt,
  fileEventsMax: number,
): Promise<void> {
  const seals = await listSeals(db, attempt.month)
  let number = 0
  for (const part of partsOf(seals, fileEventsMax)) {
    number += 1
    await writePart(db, store, attempt, part, number)
  }
}

async function listSeals(db: Database, month: Month): Promise<Seal[]> {
  const { fromAt, toAt } = boundsOf(month)
  const { rows } = await sql<Seal>`
    select number, from_at::text, to_at::text, events from audit_seals
    where from_at >= ${fromAt}::timestamptz and to_at <= ${toAt}::timestamptz order by number`.execute(
    db,
  )
  return rows
}

function partsOf(seals: readonly Seal[], eventsMax: number): Seal[][] {
  const parts: Seal[][] = []
  let events = 0n
  for (const seal of seals) {
    events += seal.events
    if (parts.length === 0 || events > BigInt(eventsMax)) {
      parts.push([])
      events = seal.events
    }
    parts.at(-1)?.push(seal)
  }
  return parts
}

async function writePart(
  db: Database,
  store: ArchiveStore,
  attempt: Attempt,
  seals: readonly Seal[],
  number: number,
): Promise<void> {
  const [first, last] = [seals[0] as Seal, seals.at(-1) as Seal]
  const work = await openWorkDir()
  try {
    const path = await writeEventFile(
      work.duckDb,
      work.dir,
      linesOf(db, seals, () => attempt.renew()),
    )
    const sums = await sumAccounts(work.duckDb, path)
    await compareSums(db, [first.number, last.number], sums)
    const { bytes, sha256 } = await digestFile(path)
    const name = `${folderOf(attempt)}/${String(number).padStart(5, '0')}.parquet`
    await store.put(name, path)
    const insert = sql`
      insert into archived_files (month, number, name, first_seal, last_seal, events, bytes, sha256, sums_hash,
        created_from, created_to)
      select ${firstDay(attempt.month)}::date, ${number}, ${name}, ${first.number}, ${last.number},
        ${seals.reduce((total, { events }) => total + events, 0n)}, ${bytes}, ${sha256}, ${hashAccounts(sums)},
        min(created_at), max(created_at)
      from usage_events where settled_at >= ${first.from_at}::timestamptz and settled_at < ${last.to_at}::timestamptz
    `
    await withoutTimeout(db, async (trx) => {
      await attempt.renew(trx)
      await insert.execute(trx)
    })
  } finally {
    await work.close()
  }
}

/** Each seal is one short statement: the rows of sealed time do not change, but for ids of sessions that are erased. */
async function* linesOf(
  db: Database,
  seals: readonly Seal[],
  afterSeal: () => Promise<void>,
): AsyncGenerator<EventLine[]> {
  for (const { from_at: fromAt, to_at: toAt, events } of seals) {
    if (events === 0n) continue
    const { rows } = await sql<{ line: string; customer_id: string; session_id: string | null }>`
      select ${EVENT_LINE} as line, e.customer_id, e.session_id from usage_events e
      where e.settled_at >= ${fromAt}::timestamptz and e.settled_at < ${toAt}::timestamptz`.execute(
      db,
    )
    const withSession = rows.filter(({ session_id: id }) => id !== null)
    const keys = await ensureSessionKeys(db, [
      ...new Set(withSession.map(({ customer_id: id }) => id)),
    ])
    yield rows.map(({ line, customer_id: customerId, session_id: sessionId }) => {
      const key = keys.get(customerId)
      return { line, session: key && sessionId !== null ? sealSession(key, sessionId) : null }
    })
    await afterSeal()
  }
}

/** The sums of each account in the file, as DuckDB reads them, and those that the seals stored. */
async function compareSums(
  db: Database,
  [first, last]: readonly [bigint, bigint],
  inFile: readonly AccountSums[],
): Promise<void> {
  const { rows } = await sql<{ customerId: string; billedNanoBrl: string; costPicoUsd: string }>`
    select customer_id as "customerId", sum(billed_nano_brl)::text as "billedNanoBrl",
      sum(cost_pico_usd)::text as "costPicoUsd"
    from audit_seal_sums where seal_number between ${first} and ${last} group by 1 order by 1`.execute(
    db,
  )
  const same =
    rows.length === inFile.length &&
    rows.every((row, index) => {
      const other = inFile[index] as AccountSums
      return (
        row.customerId === other.customerId &&
        row.billedNanoBrl === other.billedNanoBrl &&
        row.costPicoUsd === other.costPicoUsd
      )
    })
  if (!same)
    throw new ArchiveFault(
      `the sums of accounts in a file are not those of seals ${first} to ${last}`,
    )
}

/** Reads every file back from where it was stored, and proves its rows against the seals. */
export async function proveFiles(
  db: Database,
  archive: EventArchive,
  attempt: Attempt,
): Promise<void> {
  for (const file of await listArchivedFiles(db, firstDay(attempt.month))) {
    const opened = await archive.openFile(file)
    try {
      if (!opened.isIntact) throw new ArchiveFault(`${file.name} is not what was written`)
      const run = async (trx: Database, checks: Parameters<Parameters<typeof proveFile>[3]>[1]) => {
        for (const [name, query] of Object.entries(checks)) {
          const { rows } = await sql`select * from (${query}) breaches limit 1`.execute(trx)
          if (rows.length > 0) throw new ArchiveFault(`${file.name}: ${name}: ${plain(rows[0])}`)
        }
      }
      // Their arithmetic was proved when they were sealed.
      await proveFile(db, opened, file, run, { charges: false, afterSlice: () => attempt.renew() })
    } finally {
      await opened.close()
    }
  }
}

function plain(row: unknown): string {
  return JSON.stringify(row, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
}
