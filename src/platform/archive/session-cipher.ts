/**
 * Session ids in files: sealed with the key of their customer, which is in the database alone. One id always has the same
 * sealed form, because its own digest is the initial value, so that files keep one copy of it and can be searched.
 */
import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto'
import { sql } from 'kysely'
import type { Database } from '../db/open.ts'

const CIPHER = 'aes-256-ctr'
const DIGEST_BYTES = 16

export function sealSession(key: Buffer, sessionId: string): Buffer {
  const digest = digestOf(key, sessionId)
  const cipher = createCipheriv(CIPHER, key, digest)
  return Buffer.concat([digest, cipher.update(sessionId, 'utf8'), cipher.final()])
}

/** Throws if the bytes were not sealed with this key. */
export function openSession(key: Buffer, sealed: Buffer): string {
  const digest = sealed.subarray(0, DIGEST_BYTES)
  const cipher = createDecipheriv(CIPHER, key, digest)
  const sessionId = Buffer.concat([cipher.update(sealed.subarray(DIGEST_BYTES)), cipher.final()])
  const text = sessionId.toString('utf8')
  if (!timingSafeEqual(digest, digestOf(key, text)))
    throw new Error('a session id of an archived file cannot be opened')
  return text
}

function digestOf(key: Buffer, sessionId: string): Buffer {
  return createHmac('sha256', key).update(sessionId).digest().subarray(0, DIGEST_BYTES)
}

/** Returns the key of a customer's archived sessions; undefined if the account was deleted, and its key with it. */
export async function findSessionKey(
  db: Database,
  customerId: string,
): Promise<Buffer | undefined> {
  const row = await db
    .selectFrom('archived_session_keys')
    .select('key')
    .where('customer_id', '=', customerId)
    .executeTakeFirst()
  return row?.key
}

/** Makes the missing keys of these customers; deleted ones have none. */
export async function ensureSessionKeys(
  db: Database,
  customerIds: readonly string[],
): Promise<ReadonlyMap<string, Buffer>> {
  await sql`
    insert into archived_session_keys (customer_id, key)
    select id, uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
    from customers where id = any(${customerIds}::uuid[]) and deleted_at is null for key share
    on conflict do nothing`.execute(db)
  const rows = await db
    .selectFrom('archived_session_keys')
    .selectAll()
    .where(sql<boolean>`customer_id = any(${customerIds}::uuid[])`)
    .execute()
  return new Map(rows.map(({ customer_id, key }) => [customer_id, key]))
}
