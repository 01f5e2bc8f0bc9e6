/**
 * Answers that an account keeps for equal calls of its own, each sealed for its row: access to the database alone opens
 * none. This room knows texts and digests; what they are belongs to `gateway/calls/answer-cache.ts`.
 */
import { sql } from 'kysely'
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import type { Database } from '../platform/db/open.ts'
import { seal, SealError, unseal } from '../platform/lib/seal.ts'

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

/** An account keeps its newest answers within this limit; older ones make room for them. */
const CACHED_ANSWERS_MAX = 1_000
/** A longer answer is not kept. */
export const CACHED_TEXT_BYTES_MAX = 2 * 1024 * 1024
/** A text that is longer than this where it is compressed and sealed is not kept either. */
const CACHED_SEALED_BYTES_MAX = 256 * 1024
/** The longest time for which an answer serves equal calls: a week. */
export const CACHE_SECONDS_MAX = 604_800
/** Rows of one statement. */
const BATCH = 200

export interface CachedAnswers {
  /** Undefined if there is none whose time is not over, or if no known key opens it. */
  find(customerId: string, digest: Buffer): Promise<string | undefined>
  /** Takes the place of an older one. An answer that is too large is not kept. */
  put(answer: {
    readonly customerId: string
    readonly digest: Buffer
    readonly text: string
    readonly seconds: number
  }): Promise<void>
}

export function createCachedAnswers({
  db,
  sealingKey,
  previousSealingKey,
}: {
  readonly db: Database
  readonly sealingKey: Buffer
  readonly previousSealingKey?: Buffer | undefined
}): CachedAnswers {
  return {
    async find(customerId, digest) {
      const { rows } = await sql<{ sealed: Buffer }>`
        select sealed from cached_answers
        where customer_id = ${customerId} and digest = ${digest} and expires_at > now()`.execute(db)
      const [row] = rows
      if (!row) return undefined
      try {
        const opened = unseal(
          sealingKey,
          rowIdOf(customerId, digest),
          row.sealed,
          previousSealingKey,
        )
        return (await inflate(opened, { maxOutputLength: CACHED_TEXT_BYTES_MAX })).toString()
      } catch (error) {
        if (error instanceof SealError) return undefined
        throw error
      }
    },
    async put({ customerId, digest, text, seconds }) {
      if (Buffer.byteLength(text) > CACHED_TEXT_BYTES_MAX) return
      const packed = await deflate(text)
      if (packed.length > CACHED_SEALED_BYTES_MAX) return
      const sealed = seal(sealingKey, rowIdOf(customerId, digest), packed)
      await sql`
        with excess as (
          select digest from cached_answers where customer_id = ${customerId} and digest <> ${digest}
          order by created_at desc offset ${CACHED_ANSWERS_MAX - 1} limit ${BATCH}
        ), evicted as (
          delete from cached_answers c using excess e where c.customer_id = ${customerId} and c.digest = e.digest
        )
        insert into cached_answers (customer_id, digest, sealed, expires_at)
        values (${customerId}, ${digest}, ${sealed}, now() + make_interval(secs => ${seconds}))
        on conflict (customer_id, digest) do update set
          sealed = excluded.sealed, created_at = excluded.created_at, expires_at = excluded.expires_at`.execute(
        db,
      )
    },
  }
}

/** A sealed answer opens neither for another customer nor for another request. */
function rowIdOf(customerId: string, digest: Buffer): string {
  return `${customerId}/${digest.toString('hex')}`
}

/** Deletes answers whose time is over. */
export async function pruneCachedAnswers(
  db: Database,
  isOver: () => boolean = () => false,
): Promise<void> {
  for (let deleted = BATCH; deleted === BATCH && !isOver();) {
    const { numAffectedRows } = await sql`
      delete from cached_answers where (customer_id, digest) in (
        select customer_id, digest from cached_answers where expires_at <= now() limit ${BATCH})`.execute(
      db,
    )
    deleted = Number(numAffectedRows)
  }
}
