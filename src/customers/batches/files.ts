/**
 * Files for batches: those that a customer uploads, in parts that are each sealed for their row, and those with the results
 * of a batch, whose text is that of the batch's lines.
 */
import { sql } from 'kysely'
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import type { Database } from '../../platform/db/open.ts'
import { createId } from '../../platform/lib/ids.ts'
import { seal, unseal } from '../../platform/lib/seal.ts'
import { lockCustomer } from '../customers.ts'
import { readResults, type SealingSettings } from './batch-results.ts'
import { mayRead, ofPage, type Page, type Reader } from '../stored-responses/reader.ts'

export const FILE_BYTES_MAX = 100 * 1024 * 1024
export const FILES_MAX = 10_000
/** The most of all files and results of a customer, when another file is uploaded or another batch begins. */
export const STORED_BYTES_MAX = 1024 * 1024 * 1024
const PART_BYTES = 1024 * 1024

export interface StoredFile {
  readonly id: string
  readonly name: string
  readonly bytes: number
  readonly batchId: string | null
  readonly isOfErrors: boolean
  readonly createdAt: Date
  readonly expiresAt: Date
}

export interface FileToStore {
  readonly customerId: string
  readonly keyId: string
  readonly name: string
  readonly seconds: number
  readonly bytes: number
  read(): AsyncIterable<Buffer>
}

const FIELDS = sql`r.id, r.name, r.bytes::float8 as bytes, r.batch_id as "batchId", r.is_of_errors as "isOfErrors",
  r.created_at as "createdAt", r.expires_at as "expiresAt"`

/** Stores a whole file, or nothing. */
export function storeFile(
  db: Database,
  { sealingKey }: SealingSettings,
  actor: Actor,
  file: FileToStore,
): Promise<StoredFile | 'too_many_files'> {
  return audited<StoredFile | 'too_many_files'>(db, actor, async (trx, record, undo) => {
    const { customerId, keyId, name, bytes, seconds } = file
    // And again when it is counted.
    if (await storesTooMuch(trx, customerId, { files: 1, bytes })) undo('too_many_files')
    const id = createId()
    const { rows } = await sql<StoredFile>`
      insert into files as r (id, customer_id, api_key_id, name, bytes, expires_at)
      values (${id}, ${customerId}, ${keyId}, ${name}, ${bytes}, now() + make_interval(secs => ${seconds}))
      returning ${FIELDS}`.execute(trx)
    let place = 0
    for await (const part of inParts(file.read())) {
      const partId = createId()
      const row = { id: partId, file_id: id, customer_id: customerId, place: place++ }
      await trx
        .insertInto('file_parts')
        .values({ ...row, sealed: seal(sealingKey, partId, part) })
        .execute()
    }
    // Only now: the account is not locked while the file is written.
    await lockCustomer(trx, customerId)
    if (await storesTooMuch(trx, customerId)) undo('too_many_files')
    await record({ action: 'file.created', customerId, subjectId: id })
    return rows[0] as StoredFile
  })
}

/** Of a row of a line, whose result may have been deleted. */
const LINE_BYTES = 512

/** Whether there is too much with `more`. Also counts what is over and not yet deleted. */
export async function storesTooMuch(
  db: Database,
  customerId: string,
  more: { readonly files: number; readonly bytes: number } = { files: 0, bytes: 0 },
): Promise<boolean> {
  const { rows } = await sql<{ files: number; bytes: number }>`
    select count(*)::float8 as files, (coalesce(sum(bytes) filter (where batch_id is null), 0)
      + (select coalesce(sum(bytes + lines * ${LINE_BYTES}::int8 + case when ended_at is null then input_bytes else 0 end), 0)
        from batches where customer_id = ${customerId}))::float8 as bytes
    from files where customer_id = ${customerId}`.execute(db)
  const { files = 0, bytes = 0 } = rows[0] ?? {}
  return files + more.files > FILES_MAX || bytes + more.bytes > STORED_BYTES_MAX
}

async function* inParts(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let kept: Buffer[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    kept.push(chunk)
    bytes += chunk.length
    if (bytes < PART_BYTES) continue
    yield Buffer.concat(kept)
    kept = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(kept)
}

export async function findFile(
  db: Database,
  reader: Reader,
  id: string,
): Promise<StoredFile | undefined> {
  const { rows } = await sql<StoredFile>`
    select ${FIELDS} from files r where r.id = ${id}::uuid and ${mayRead(reader)} and r.expires_at > now()`.execute(
    db,
  )
  return rows[0]
}

/** One more than the page has shows that there are others. `isOfBatches`: undefined for all. */
export async function listFiles(
  db: Database,
  reader: Reader,
  page: Page & { readonly isOfBatches?: boolean | undefined },
): Promise<StoredFile[]> {
  const { where, end } = ofPage(page)
  const { isOfBatches } = page
  const isWanted =
    isOfBatches === undefined ? sql`true` : sql`(r.batch_id is not null) = ${isOfBatches}`
  const { rows } = await sql<StoredFile>`
    select ${FIELDS} from files r
    where ${mayRead(reader)} and r.expires_at > now() and ${isWanted} and ${where} ${end}`.execute(
    db,
  )
  return rows
}

/** Deletes a file and its text. The batch whose results it had stays. */
export function deleteFile(
  db: Database,
  actor: Actor,
  { reader, id }: { readonly reader: Reader; readonly id: string },
): Promise<boolean> {
  return audited(db, actor, async (trx, record) => {
    const { rows } = await sql<{ batchId: string | null; isOfErrors: boolean; bytes: bigint }>`
      delete from files r where r.id = ${id}::uuid and ${mayRead(reader)}
      returning r.batch_id as "batchId", r.is_of_errors as "isOfErrors", r.bytes`.execute(trx)
    const [deleted] = rows
    if (!deleted) return false
    const { batchId, isOfErrors, bytes } = deleted
    if (batchId !== null) {
      await sql`update batch_lines set result_sealed = null
        where batch_id = ${batchId} and (outcome <> 'succeeded') = ${isOfErrors}`.execute(trx)
      await sql`update batches set bytes = bytes - ${bytes}::int8 where id = ${batchId}`.execute(
        trx,
      )
    }
    await record({ action: 'file.deleted', customerId: reader.customerId, subjectId: id })
    return true
  })
}

/** A file was deleted after it had been found, and before it was read to its end. */
export class FileDeleted extends Error {}

/**
 * Returns the text of a file, part by part. Throws `FileDeleted` where a part is gone, so that the beginning of a file is
 * never taken for the whole.
 */
export async function* readFile(
  db: Database,
  keys: SealingSettings,
  { id, bytes, batchId, isOfErrors }: StoredFile,
): AsyncGenerator<Buffer> {
  const parts =
    batchId === null
      ? readParts(db, keys, id)
      : readResults(db, keys, batchId, isOfErrors ? 'failed' : 'succeeded')
  let left = bytes
  for await (const part of parts) {
    left -= part.length
    yield part
    if (left === 0) return
  }
  if (left > 0) throw new FileDeleted('the file was deleted while it was read')
}

async function* readParts(
  db: Database,
  { sealingKey, previousSealingKey }: SealingSettings,
  fileId: string,
): AsyncGenerator<Buffer> {
  for (let place = 0; ; place++) {
    const { rows } = await sql<{ id: string; sealed: Buffer }>`
      select id, sealed from file_parts where file_id = ${fileId} and place = ${place}`.execute(db)
    const [part] = rows
    if (!part) return
    yield unseal(sealingKey, part.id, part.sealed, previousSealingKey)
  }
}

const BATCH = 20

/** Deletes files whose time is over. */
export async function pruneFiles(db: Database, isOver: () => boolean = () => false): Promise<void> {
  for (let deleted = BATCH; deleted === BATCH && !isOver();) {
    const { numAffectedRows } = await sql`
      delete from files where id in (
        select id from files where expires_at <= now() order by expires_at limit ${BATCH})`.execute(
      db,
    )
    deleted = Number(numAffectedRows)
  }
}
