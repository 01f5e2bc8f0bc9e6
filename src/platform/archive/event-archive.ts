/** Reads archived usage events back: whole seals for the audit, and one customer's for exports. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { exactTime } from '../db/exact-time.ts'
import type { Database } from '../db/open.ts'
import { createShare } from '../admission/share.ts'
import type { ArchiveStore, LocalFile } from './archive-store.ts'
import { digestFile, FILE_LINE, filesOf, hashAccounts, sumAccounts } from './event-file.ts'
import { literal, openDuckDb, type DuckDb } from './open-duckdb.ts'
import { findSessionKey, openSession } from './session-cipher.ts'

export interface ArchivedFile {
  readonly month: string
  readonly name: string
  readonly firstSeal: bigint
  readonly lastSeal: bigint
  readonly events: bigint
  readonly bytes: number
  readonly sha256: Buffer
  /** Of the sums of its accounts (`hashAccounts`). */
  readonly sumsHash: Buffer
}

/** An archived event as a line of JSON that `eventsIn` reads, with its place in the order of time. */
export interface ArchivedEvent {
  readonly createdAt: string
  readonly id: string
  readonly line: string
}

export interface OpenEventFile {
  /** Whether its bytes, and the sums of its accounts, are those that were archived. */
  readonly isIntact: boolean
  /** Lines of JSON of what was settled in the slice, without sessions. */
  readSlice(slice: { readonly fromAt: string; readonly toAt: string }): Promise<string[]>
  close(): Promise<void>
}

interface Period {
  readonly fromAt: string
  readonly untilAt: string
}

export interface EventArchive {
  readonly place: string
  openFile(file: ArchivedFile): Promise<OpenEventFile>
  /**
   * The customer's events that began in the period, oldest first, of the months that are archived now. Throws an
   * `ArchiveBusy` before the first of them.
   */
  readCustomer(
    db: Database,
    customerId: string,
    period: Period,
  ): AsyncGenerator<readonly ArchivedEvent[]>
}

/** The most readings by customers at once: each has a DuckDB, and copies of files of a bucket. */
export const READINGS_MAX = 4

/** Thrown when `READINGS_MAX` others read the archive. */
export class ArchiveBusy extends Error {}

export function createEventArchive(
  store: ArchiveStore,
  readings = createShare({ ownMax: READINGS_MAX }),
): EventArchive {
  return {
    place: store.place,
    openFile: (file) => openFile(store, file),
    async *readCustomer(db, customerId, period) {
      const files = await listFiles(db, period)
      if (files.length === 0) return
      const held = readings.take('archive')
      if (typeof held === 'string')
        throw new ArchiveBusy(`${READINGS_MAX} others read archived months`)
      try {
        yield* readCustomer(db, store, { customerId, period, files })
      } finally {
        held[Symbol.dispose]()
      }
    },
  }
}

/** Runs `work` with a DuckDB and a folder for its files, which go with it. */
export async function openWorkDir(): Promise<{
  readonly dir: string
  readonly duckDb: DuckDb
  close(): Promise<void>
}> {
  const dir = await mkdtemp(join(tmpdir(), 'catraca-archive-'))
  const remove = () => rm(dir, { recursive: true, force: true })
  try {
    const duckDb = await openDuckDb(join(dir, 'sorted'))
    return {
      dir,
      duckDb,
      async close() {
        duckDb.close()
        await remove()
      },
    }
  } catch (error) {
    await remove()
    throw error
  }
}

async function openFile(store: ArchiveStore, file: ArchivedFile): Promise<OpenEventFile> {
  const local = await store.take(file.name, file.bytes)
  try {
    const { bytes, sha256 } = await digestFile(local.path)
    const isThatFile = bytes === file.bytes && sha256.equals(file.sha256)
    const work = await openWorkDir()
    return {
      isIntact:
        isThatFile &&
        hashAccounts(await sumAccounts(work.duckDb, local.path)).equals(file.sumsHash),
      async readSlice({ fromAt, toAt }) {
        const rows = await work.duckDb.rows(`
          select ${FILE_LINE} from ${filesOf([local.path])}
          where settled_at >= ${literal(fromAt)}::timestamptz and settled_at < ${literal(toAt)}::timestamptz`)
        return rows.map(([line]) => String(line))
      },
      async close() {
        await work.close()
        await local.release()
      },
    }
  } catch (error) {
    await local.release()
    throw error
  }
}

/** Days are read one after the other: a sort of one customer's day is small. */
const WINDOW_MS = 86_400_000

interface FileOfPeriod extends Pick<ArchivedFile, 'name' | 'bytes' | 'sha256'> {
  readonly createdFrom: string
  readonly createdTo: string
}

async function listFiles(db: Database, { fromAt, untilAt }: Period): Promise<FileOfPeriod[]> {
  const { rows } = await sql<FileOfPeriod>`
    select f.name, f.bytes::float8 as bytes, f.sha256, ${exactTime('f.created_from')} as "createdFrom", ${exactTime('f.created_to')} as "createdTo"
    from archived_files f join archived_months m on m.month = f.month and m.archived_at is not null
    where f.created_to >= ${fromAt}::timestamptz and f.created_from < ${untilAt}::timestamptz
    order by f.first_seal`.execute(db)
  return rows
}

async function* readCustomer(
  db: Database,
  store: ArchiveStore,
  {
    customerId,
    period: { fromAt, untilAt },
    files,
  }: { customerId: string; period: Period; files: readonly FileOfPeriod[] },
): AsyncGenerator<readonly ArchivedEvent[]> {
  const key = await findSessionKey(db, customerId)
  const work = await openWorkDir()
  const local = new Map<string, LocalFile>()
  try {
    for (const { from, until } of windowsOf(files, fromAt, untilAt)) {
      const wanted = files.filter(
        ({ createdFrom, createdTo }) => createdFrom < until && createdTo >= from,
      )
      if (wanted.length === 0) continue
      for (const file of wanted)
        if (!local.has(file.name)) local.set(file.name, await takeIntact(store, file))
      const paths = wanted.map(({ name }) => (local.get(name) as LocalFile).path)
      const statement = `
        select id::varchar, strftime(created_at at time zone 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ'), ${FILE_LINE},
          hex(session_id)
        from ${filesOf(paths)}
        where customer_id = ${literal(customerId)}::uuid
          and created_at >= ${literal(from)}::timestamptz and created_at < ${literal(until)}::timestamptz
        order by created_at, id`
      for await (const rows of work.duckDb.stream(statement))
        yield rows.map(([id, createdAt, line, session]) => ({
          id: String(id),
          createdAt: String(createdAt),
          line: withSession(String(line), session, key),
        }))
      for (const { name, createdTo } of wanted) {
        if (createdTo >= until) continue
        await local.get(name)?.release()
        local.delete(name)
      }
    }
  } finally {
    await work.close()
    for (const file of local.values()) await file.release()
  }
}

/** A store may answer with half a file or another one, and anyone who can write to it can change charges. */
async function takeIntact(
  store: ArchiveStore,
  { name, bytes, sha256 }: Pick<ArchivedFile, 'name' | 'bytes' | 'sha256'>,
): Promise<LocalFile> {
  const local = await store.take(name, bytes)
  try {
    if ((await digestFile(local.path)).sha256.equals(sha256)) return local
    throw new Error(`${store.place}: ${name} is not the file that was archived`)
  } catch (error) {
    await local.release()
    throw error
  }
}

/** The part of the period in which files have events, cut into days. */
function windowsOf(
  files: readonly FileOfPeriod[],
  fromAt: string,
  untilAt: string,
): { from: string; until: string }[] {
  const first = files.reduce((at, file) => (file.createdFrom < at ? file.createdFrom : at), untilAt)
  const last = files.reduce((at, file) => (file.createdTo > at ? file.createdTo : at), fromAt)
  const windows: { from: string; until: string }[] = []
  for (let from = first > fromAt ? first : fromAt; from < untilAt && from <= last;) {
    const next = exactDay(Math.floor(Date.parse(from) / WINDOW_MS + 1) * WINDOW_MS)
    const until = next < untilAt ? next : untilAt
    windows.push({ from, until })
    from = until
  }
  return windows
}

/** As the database writes exact times, so that they compare as text. */
function exactDay(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000Z`
}

function withSession(line: string, sealed: unknown, key: Buffer | undefined): string {
  if (typeof sealed !== 'string' || key === undefined) return line
  const sessionId = openSession(key, Buffer.from(sealed, 'hex'))
  return `${line.slice(0, -1)},"session_id":${JSON.stringify(sessionId)}}`
}
