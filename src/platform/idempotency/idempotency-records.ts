/**
 * Rows of `idempotency_keys`: a request with an `Idempotency-Key`, and its answer. The content is
 * sealed twice. The outer seal binds it to its row; the inner key is derived from the caller's own `Idempotency-Key`,
 * which is not stored, so that the operator's key and a copy of the database do not open the secret of a new API key.
 */
import { hkdfSync } from 'node:crypto'
import { sql } from 'kysely'
import { exactTime } from '../db/exact-time.ts'
import type { Database } from '../db/open.ts'
import { sha256 } from '../lib/ids.ts'
import { seal, unseal } from '../lib/seal.ts'

export interface IdempotentRequest {
  readonly customerId: string
  /** Undefined: a login session; all sessions of a customer are one caller. */
  readonly apiKeyId: string | undefined
  /** The value of `Idempotency-Key`. */
  readonly key: string
  /** A digest of the method, the path, the query and the body. */
  readonly fingerprint: string
}

export interface StoredAnswer {
  readonly status: number
  readonly body: string
}

export interface IdempotencyRecord {
  readonly id: string
  readonly fingerprint: string
  readonly answer: StoredAnswer | undefined
  /** Another request carries out the act. */
  readonly isRunning: boolean
}

export interface IdempotencyKeys {
  readonly sealingKey: Buffer
  readonly previousSealingKey?: Buffer | undefined
}

export const IDEMPOTENCY_HOURS = 24
/** The most idempotency keys of one customer: of all API keys together, and of all login sessions together. */
export const IDEMPOTENCY_KEYS_MAX = 5_000
export const IDEMPOTENCY_BYTES_MAX = 32 * 1024 * 1024

const INNER_KEY_PURPOSE = 'catraca idempotent answer'

/**
 * Locks the key of a request. Until the end of the transaction no other request of the caller with this key begins;
 * false means that one has begun.
 */
export async function lockKey(trx: Database, request: IdempotentRequest): Promise<boolean> {
  const name = `idempotency ${request.customerId} ${digestOf(request).toString('base64')}`
  const { rows } = await sql<{ is_mine: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as is_mine`.execute(trx)
  return rows[0]?.is_mine ?? false
}

/** Deletes a record that is too old first. */
export async function findRecord(
  trx: Database,
  { sealingKey, previousSealingKey }: IdempotencyKeys,
  request: IdempotentRequest,
): Promise<IdempotencyRecord | undefined> {
  const digest = digestOf(request)
  await sql`
    delete from idempotency_keys
    where customer_id = ${request.customerId} and key_digest = ${digest} and ${isOver()}`.execute(
    trx,
  )
  const row = await trx
    .selectFrom('idempotency_keys')
    .select(['id', 'content_sealed'])
    .select(sql<boolean>`coalesce(running_until > clock_timestamp(), false)`.as('is_running'))
    .where('customer_id', '=', request.customerId)
    .where('key_digest', '=', digest)
    .executeTakeFirst()
  if (!row) return undefined
  const inner = unseal(sealingKey, row.id, row.content_sealed, previousSealingKey)
  const content = unseal(innerKeyOf(request, row.id), row.id, inner)
  return { ...readContent(content), id: row.id, isRunning: row.is_running }
}

/** Whether the caller has stored as much as it may. */
export async function isFull(trx: Database, request: IdempotentRequest): Promise<boolean> {
  const { rows } = await sql<{ records: bigint; bytes: bigint }>`
    select count(*) as records, coalesce(sum(octet_length(content_sealed)), 0)::int8 as bytes
    from idempotency_keys
    where customer_id = ${request.customerId} and not ${isOver()}
      and (api_key_id is null) = ${request.apiKeyId === undefined}`.execute(trx)
  const { records = 0n, bytes = 0n } = rows[0] ?? {}
  return records >= IDEMPOTENCY_KEYS_MAX || bytes >= IDEMPOTENCY_BYTES_MAX
}

/**
 * Stores the record of a request. With `runsForSeconds`, it claims an act that has no answer yet, and returns the end
 * of the claim; otherwise null.
 */
export async function insertRecord(
  trx: Database,
  keys: IdempotencyKeys,
  request: IdempotentRequest,
  record: { id: string; answer?: StoredAnswer; runsForSeconds?: number },
): Promise<string | null> {
  const { id, answer, runsForSeconds } = record
  const { until } = await trx
    .insertInto('idempotency_keys')
    .values({
      id,
      customer_id: request.customerId,
      api_key_id: request.apiKeyId ?? null,
      key_digest: digestOf(request),
      content_sealed: sealContent(keys, request, id, answer),
      is_answered: answer !== undefined,
      running_until: runsForSeconds === undefined ? null : inSeconds(runsForSeconds),
    })
    .returning(exactEnd)
    .executeTakeFirstOrThrow()
  return until
}

/** Resumes the claim of a process that ended, or of an act whose outcome is not known. Returns its new end. */
export async function renewClaim(
  trx: Database,
  id: string,
  seconds: number,
): Promise<string | null> {
  const { until } = await trx
    .updateTable('idempotency_keys')
    .set({ running_until: inSeconds(seconds) })
    .where('id', '=', id)
    .returning(exactEnd)
    .executeTakeFirstOrThrow()
  return until
}

/** The end of a claim, by `exactTime`; null for a record without one. It differs from that of a later claim. */
const exactEnd = exactTime('running_until').$castTo<string | null>().as('until')

/** The claim of an act that another request may have resumed since. */
export interface Claim {
  readonly id: string
  readonly until: string | null
}

/** Stores the answer of an act that has ended. The first answer stays if two requests carried out the same act. */
export async function storeAnswer(
  db: Database,
  keys: IdempotencyKeys,
  request: IdempotentRequest,
  record: { id: string; answer: StoredAnswer },
): Promise<void> {
  await updateAnswer(db, keys, request, record).where('is_answered', '=', false).execute()
}

/** Stores that the act was refused, unless another request has resumed it since, which may carry it out. */
export async function storeRefusal(
  db: Database,
  keys: IdempotencyKeys,
  request: IdempotentRequest,
  { own: { id, until }, answer }: { own: Claim; answer: StoredAnswer },
): Promise<void> {
  await updateAnswer(db, keys, request, { id, answer }).where(isStill(until)).execute()
}

function updateAnswer(
  db: Database,
  keys: IdempotencyKeys,
  request: IdempotentRequest,
  { id, answer }: { id: string; answer: StoredAnswer },
) {
  return db
    .updateTable('idempotency_keys')
    .set({
      content_sealed: sealContent(keys, request, id, answer),
      is_answered: true,
      running_until: null,
    })
    .where('id', '=', id)
}

/** Whether the claim is still held; then no other request takes it over until the end of the transaction. */
export async function holdClaim(trx: Database, { id, until }: Claim): Promise<boolean> {
  const row = await trx
    .selectFrom('idempotency_keys')
    .select('id')
    .where('id', '=', id)
    .where(isStill(until))
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row !== undefined
}

/** Ends the claim of an act that may have happened: the next request with the key finds out. */
export async function endClaim(db: Database, { id, until }: Claim): Promise<void> {
  await db
    .updateTable('idempotency_keys')
    .set({ running_until: null })
    .where('id', '=', id)
    .where(isStill(until))
    .execute()
}

/** Deletes the claim of an act that did not happen: the next request with the key begins anew. */
export async function deleteClaim(db: Database, { id, until }: Claim): Promise<void> {
  await db.deleteFrom('idempotency_keys').where('id', '=', id).where(isStill(until)).execute()
}

/** True for a record that has no answer and whose act no other request has resumed. */
function isStill(until: string | null) {
  return sql<boolean>`not is_answered and running_until = ${until}::timestamptz`
}

function isOver() {
  return sql<boolean>`created_at <= now() - make_interval(hours => ${IDEMPOTENCY_HOURS})`
}

function inSeconds(seconds: number) {
  return sql<Date>`clock_timestamp() + make_interval(secs => ${seconds})`
}

/** Two callers with the same key have different digests. */
function digestOf({ customerId, apiKeyId = 'session', key }: IdempotentRequest): Buffer {
  return sha256(`idempotency key ${customerId} ${apiKeyId} ${key}`)
}

function innerKeyOf({ key }: IdempotentRequest, id: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, id, INNER_KEY_PURPOSE, 32))
}

function sealContent(
  { sealingKey }: IdempotencyKeys,
  request: IdempotentRequest,
  id: string,
  answer: StoredAnswer | undefined,
): Buffer {
  const { fingerprint } = request
  const content = JSON.stringify(answer ? { fingerprint, answer } : { fingerprint })
  return seal(sealingKey, id, seal(innerKeyOf(request, id), id, Buffer.from(content)))
}

function readContent(content: Buffer): Pick<IdempotencyRecord, 'fingerprint' | 'answer'> {
  const read = JSON.parse(content.toString()) as { fingerprint: string; answer?: StoredAnswer }
  return { fingerprint: read.fingerprint, answer: read.answer }
}

const BATCH = 1_000

export async function pruneIdempotencyKeys(
  db: Database,
  isOver: () => boolean = () => false,
): Promise<void> {
  for (let deleted = BATCH; deleted === BATCH && !isOver();) {
    const { numAffectedRows } = await sql`
      delete from idempotency_keys where id in (
        select id from idempotency_keys
        where created_at <= now() - make_interval(hours => ${IDEMPOTENCY_HOURS})
        order by created_at limit ${BATCH})`.execute(db)
    deleted = Number(numAffectedRows)
  }
}
