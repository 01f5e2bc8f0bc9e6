/** Who reads what calls made, and the pages in which it is listed. */
import { sql, type RawBuilder } from 'kysely'

/** Who reads what calls made: stored responses, videos, files and batches. */
export interface Reader {
  readonly customerId: string
  /** The key that calls; null: a login session of the customer. */
  readonly keyId: string | null
  /** Reads what all of the customer's own keys made, and not that key alone. */
  readonly seesAccount: boolean
}

/** Whether this reader may see the row `r`. What a team's key made is read by that key alone. */
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
