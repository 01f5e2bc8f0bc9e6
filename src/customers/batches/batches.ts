/** Batches as their customers make and read them. `batch-lines.ts` is the work on them. */
import { sql } from 'kysely'
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import type { Database } from '../../platform/db/open.ts'
import { createId } from '../../platform/lib/ids.ts'
import { seal } from '../../platform/lib/seal.ts'
import { lockCustomer } from '../customers.ts'
import { FILE_DAYS, type SealingSettings } from './batch-results.ts'
import { storesTooMuch } from './files.ts'
import { mayRead, ofPage, type Page, type Reader } from '../stored-responses/reader.ts'

/** The most of a customer that have not ended. */
export const BATCHES_MAX = 20
/** The most of a customer, with those that have ended. */
export const KEPT_MAX = 10_000
export const LINES_MAX = 50_000
/** The time in which a batch runs; lines that were not called by then are errors. */
export const WINDOW_HOURS = 24

export interface Batch {
  readonly id: string
  readonly endpoint: string
  readonly inputFileId: string | null
  /** Of the results, once the batch has ended; null where there are none, or they were deleted. */
  readonly outputFileId: string | null
  readonly errorFileId: string | null
  readonly metadata: Readonly<Record<string, string>> | null
  readonly lines: number
  readonly succeeded: number
  readonly errored: number
  readonly canceled: number
  readonly expired: number
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly canceledAt: Date | null
  readonly endedAt: Date | null
}

export interface BatchToCreate {
  readonly customerId: string
  readonly keyId: string
  readonly endpoint: string
  readonly inputFileId: string | null
  readonly metadata: Readonly<Record<string, string>> | null
  /**
   * The inputs of the lines, each as JSON, in groups that are stored at once; read in the transaction that stores them.
   * What it throws undoes the batch.
   */
  lines(trx: Database): AsyncIterable<readonly string[]>
}

const FIELDS = sql`r.id, r.endpoint, r.input_file_id as "inputFileId", r.metadata, r.lines, r.succeeded, r.errored, r.canceled,
  r.expired, r.created_at as "createdAt", r.expires_at as "expiresAt", r.canceled_at as "canceledAt", r.ended_at as "endedAt",
  (select id from files f where f.batch_id = r.id and not f.is_of_errors) as "outputFileId",
  (select id from files f where f.batch_id = r.id and f.is_of_errors) as "errorFileId"`

/** Whether `r` is a batch with a file of lines, or one whose lines came with it, as clients of Messages send them. */
const isOf = (messages: boolean) => sql<boolean>`(r.input_file_id is null) = ${messages}`

/** Stores a batch with all of its lines, or nothing. */
export function createBatch(
  db: Database,
  { sealingKey }: SealingSettings,
  actor: Actor,
  batch: BatchToCreate,
): Promise<Batch | 'too_many_batches' | 'too_many_files'> {
  type Created = Batch | 'too_many_batches' | 'too_many_files'
  return audited<Created>(db, actor, async (trx, record, undo) => {
    const { customerId, keyId, endpoint, inputFileId, metadata } = batch
    // And again when they are counted: what can be seen at once is not written first.
    if (await hasTooMany(trx, customerId, 1)) undo('too_many_batches')
    if (await storesTooMuch(trx, customerId)) undo('too_many_files')
    const id = createId()
    const json = metadata === null ? null : JSON.stringify(metadata)
    await sql`
      insert into batches (id, customer_id, api_key_id, endpoint, input_file_id, metadata, lines, expires_at)
      values (${id}, ${customerId}, ${keyId}, ${endpoint}, ${inputFileId}, ${json}::jsonb, 0,
        now() + make_interval(hours => ${WINDOW_HOURS}))`.execute(trx)
    let place = 0
    let inputBytes = 0
    for await (const inputs of batch.lines(trx)) {
      const rows = inputs.map((input) => {
        const lineId = createId()
        const sealed = seal(sealingKey, lineId, Buffer.from(input))
        inputBytes += sealed.length
        return {
          id: lineId,
          batch_id: id,
          customer_id: customerId,
          place: place++,
          input_sealed: sealed,
        }
      })
      await trx.insertInto('batch_lines').values(rows).execute()
    }
    // Only now: the account is not locked while the lines are written.
    await lockCustomer(trx, customerId)
    const { rows } = await sql<Batch>`
      update batches r set lines = ${place}, input_bytes = ${inputBytes}
      where r.id = ${id} returning ${FIELDS}`.execute(trx)
    if (await hasTooMany(trx, customerId)) undo('too_many_batches')
    if (await storesTooMuch(trx, customerId)) undo('too_many_files')
    await record({ action: 'batch.created', customerId, subjectId: id })
    return rows[0] as Batch
  })
}

/** Whether there are too many with `more` others. */
async function hasTooMany(db: Database, customerId: string, more = 0): Promise<boolean> {
  const { rows } = await sql<{ running: number; kept: number }>`
    select count(*) filter (where ended_at is null)::float8 as running, count(*)::float8 as kept
    from batches where customer_id = ${customerId}`.execute(db)
  const { running = 0, kept = 0 } = rows[0] ?? {}
  return running + more > BATCHES_MAX || kept + more > KEPT_MAX
}

export interface BatchOf {
  readonly reader: Reader
  readonly id: string
  /** Of the format of Messages. */
  readonly messages: boolean
}

export async function findBatch(
  db: Database,
  { reader, id, messages }: BatchOf,
): Promise<Batch | undefined> {
  const { rows } = await sql<Batch>`
    select ${FIELDS} from batches r where r.id = ${id}::uuid and ${isOf(messages)} and ${mayRead(reader)}`.execute(
    db,
  )
  return rows[0]
}

/** One more than the page has shows that there are others. */
export async function listBatches(
  db: Database,
  reader: Reader,
  page: Page & { readonly messages: boolean },
): Promise<Batch[]> {
  const { where, end } = ofPage(page)
  const { rows } = await sql<Batch>`
    select ${FIELDS} from batches r
    where ${isOf(page.messages)} and ${mayRead(reader)} and ${where} ${end}`.execute(db)
  return rows
}

/** Lines that run end; no other one begins. `ended`: it had ended before. */
export function cancelBatch(
  db: Database,
  actor: Actor,
  of: BatchOf,
): Promise<Batch | 'ended' | undefined> {
  return audited<Batch | 'ended' | undefined>(db, actor, async (trx, record) => {
    const { reader, id, messages } = of
    const { rows } = await sql<Batch>`
      update batches r set canceled_at = now()
      where r.id = ${id}::uuid and ${isOf(messages)} and ${mayRead(reader)} and r.ended_at is null and r.canceled_at is null
      returning ${FIELDS}`.execute(trx)
    const [canceled] = rows
    if (!canceled) {
      const found = await findBatch(trx, of)
      return found?.endedAt ? 'ended' : found
    }
    await record({ action: 'batch.canceled', customerId: reader.customerId, subjectId: id })
    return canceled
  })
}

/** Deletes a batch that has ended, with its results. `running`: it has not. */
export function deleteBatch(
  db: Database,
  actor: Actor,
  of: BatchOf,
): Promise<'deleted' | 'running' | undefined> {
  return audited<'deleted' | 'running' | undefined>(db, actor, async (trx, record) => {
    const found = await findBatch(trx, of)
    if (!found) return undefined
    if (!found.endedAt) return 'running'
    await sql`delete from batches where id = ${found.id}`.execute(trx)
    await record({ action: 'batch.deleted', customerId: of.reader.customerId, subjectId: of.id })
    return 'deleted'
  })
}

const LINES_AT_ONCE = 500

/** Deletes batches, with their results, some days after they were made. */
export async function pruneBatches(
  db: Database,
  isOver: () => boolean = () => false,
): Promise<void> {
  const old = sql`ended_at is not null and created_at <= now() - make_interval(days => ${FILE_DAYS})`
  for (let deleted = LINES_AT_ONCE; deleted === LINES_AT_ONCE && !isOver();) {
    const { numAffectedRows } = await sql`
      delete from batch_lines where id in (
        select l.id from batches b join batch_lines l on l.batch_id = b.id where ${old} limit ${LINES_AT_ONCE})`.execute(
      db,
    )
    deleted = Number(numAffectedRows)
  }
  await sql`delete from batches b where ${old} and not exists (select from batch_lines l where l.batch_id = b.id)`.execute(
    db,
  )
}
