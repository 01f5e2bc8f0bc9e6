import { sql, type RawBuilder } from 'kysely'
import type { ResponseReader } from '../stored-responses/response-reader.ts'

/** Who reads files and batches: as for stored responses, a team's key reads what it made itself, and nobody else does. */
export type Reader = ResponseReader

/** Whether this reader may see the row `r` of `files` or `batches`. */
export function mayRead({ customerId, keyId, seesAccount }: Reader): RawBuilder<boolean> {
  return sql<boolean>`r.customer_id = ${customerId} and (r.api_key_id = ${keyId}::uuid or (${seesAccount} and exists (
    select 1 from api_keys k where k.id = r.api_key_id and k.team_id is null)))`
}

export interface Page {
  /** The page begins behind it; undefined: at the beginning. */
  readonly after?: string | undefined
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

/** The rows `r` of a page: ids are in the order of their creation. */
export function ofPage({ after, order, limit }: Page): {
  readonly where: RawBuilder<boolean>
  readonly end: RawBuilder<unknown>
} {
  const isAsc = order === 'asc'
  const where =
    after === undefined
      ? sql<boolean>`true`
      : sql<boolean>`r.id ${sql.raw(isAsc ? '>' : '<')} ${after}::uuid`
  // One more shows whether there are others.
  return { where, end: sql`order by r.id ${sql.raw(order)} limit ${limit + 1}` }
}
