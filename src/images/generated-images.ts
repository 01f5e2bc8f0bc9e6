/**
 * Generated images, kept for an hour for their customer to fetch from this server: the upstream's own address would
 * reveal its name. The id is the secret that grants access.
 */
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Database } from '../db/open.ts'

const KEPT_MINUTES = 60
/** Other strings are never looked up, because PostgreSQL refuses some characters. */
const ID = /^[\w-]{32}$/

export interface StoredImage {
  readonly mediaType: string
  readonly bytes: Buffer
}

/** Returns the image's id, of 192 random bits. */
export async function storeImage(
  db: Database,
  customerId: string,
  { mediaType, bytes }: StoredImage,
): Promise<string> {
  const id = randomBytes(24).toString('base64url')
  await db
    .insertInto('generated_images')
    .values({
      id,
      customer_id: customerId,
      media_type: mediaType,
      bytes,
      expires_at: new Date(Date.now() + KEPT_MINUTES * 60_000),
    })
    .execute()
  return id
}

/** Undefined if there is no such image, or if it has expired. */
export async function findImage(db: Database, id: string): Promise<StoredImage | undefined> {
  if (!ID.test(id)) return undefined
  const row = await db
    .selectFrom('generated_images')
    .select(['media_type', 'bytes'])
    .where('id', '=', id)
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst()
  return row && { mediaType: row.media_type, bytes: row.bytes }
}

/** Deletes expired images. */
export async function pruneImages(db: Database): Promise<void> {
  await db
    .deleteFrom('generated_images')
    .where('expires_at', '<', sql<Date>`now()`)
    .execute()
}
