/**
 * Generated images, kept for an hour for their customer to fetch from this server: the upstream's own address would
 * reveal its name. The id is the secret that grants access.
 */
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Database } from '../platform/db/open.ts'

const KEPT_MINUTES = 60
/** Other strings are never looked up, because PostgreSQL refuses some characters. */
const ID = /^[\w-]{32}$/

/** An image that PostgreSQL could not compress, as most, is read without its other pieces. */
const PIECE_BYTES = 256 * 1024

export interface StoredImage {
  readonly mediaType: string
  readonly bytes: Buffer
}

/**
 * Returns the image's id, of 192 random bits. Throws for a deleted account: its call was charged before, so a deletion may
 * come between the two.
 */
export async function storeImage(
  db: Database,
  customerId: string,
  { mediaType, bytes }: StoredImage,
): Promise<string> {
  const id = randomBytes(24).toString('base64url')
  // Not by the trigger of the other tables, which would write megabytes as JSON.
  const { rows } = await sql`
    insert into generated_images (id, customer_id, media_type, bytes, expires_at)
    select ${id}, c.id, ${mediaType}, ${bytes}, now() + make_interval(mins => ${KEPT_MINUTES})
    from customers c where c.id = ${customerId} and c.deleted_at is null for key share of c
    returning id`.execute(db)
  if (rows.length === 0) throw new Error('the customer is deleted')
  return id
}

/** An image that is read from the database piece by piece, as fast as its reader takes it. */
export interface ReadableImage {
  readonly mediaType: string
  readonly size: number
  /** Throws if the image is deleted meanwhile. */
  read(): AsyncGenerator<Buffer>
}

/** Returns an image that can be read; undefined if there is none with this id, or if it has expired. */
export async function findImage(db: Database, id: string): Promise<ReadableImage | undefined> {
  if (!ID.test(id)) return undefined
  const row = await db
    .selectFrom('generated_images')
    .select(['media_type', sql<number>`octet_length(bytes)`.as('size')])
    .where('id', '=', id)
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst()
  return (
    row && { mediaType: row.media_type, size: row.size, read: () => readImage(db, id, row.size) }
  )
}

async function* readImage(db: Database, id: string, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < size; at += PIECE_BYTES) {
    // The first byte has the number one.
    const row = await db
      .selectFrom('generated_images')
      .select(
        sql<Buffer>`substring(bytes from ${at + 1}::int4 for ${PIECE_BYTES}::int4)`.as('piece'),
      )
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    yield row.piece
  }
}

/** Deletes expired images. */
export async function pruneImages(db: Database): Promise<void> {
  await db
    .deleteFrom('generated_images')
    .where('expires_at', '<', sql<Date>`now()`)
    .execute()
}
