import { sql, type RawBuilder } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import { selectReadable, type ResponseReader } from './response-reader.ts'

/** A stored response, still sealed. */
export interface FoundResponse {
  readonly id: string
  readonly previousId: string | null
  readonly isFailed: boolean
  readonly inputBytes: number
  readonly responseBytes: number
}

export interface SealedParts {
  readonly id: string
  /** Null if it was not asked for. */
  readonly input: Buffer | null
  readonly response: Buffer
}

/** The sizes of these responses, without those that the reader may not see. */
export async function measureResponses(
  db: Database,
  reader: ResponseReader,
  ids: readonly string[],
): Promise<FoundResponse[]> {
  const { rows } = await sql<FoundResponse>`
    select id, previous_id as "previousId", is_failed as "isFailed", input_bytes as "inputBytes",
      response_bytes as "responseBytes"
    from (${selectReadable(reader, isOneOf(ids))}) r`.execute(db)
  return rows
}

/**
 * A response and those before it, the newest first: at most `most`. It ends early where the reader may not see the next
 * one, or where that was deleted: then the last one has a `previousId`. No chain has a circle, because a response is
 * stored after the one that it continues.
 */
export async function measureConversation(
  db: Database,
  reader: ResponseReader,
  id: string,
  most: number,
): Promise<FoundResponse[]> {
  const fields = sql`r.id, r.previous_id, r.is_failed, r.input_bytes, r.response_bytes`
  // One look-up by the key for each step, whatever else the account has: the limit keeps the planner from a join.
  const { rows } = await sql<FoundResponse>`
    with recursive chain as (
      select ${fields}, 1 as place from (${selectReadable(reader, sql`r.id = ${id}`)}) r
      union all
      select ${fields}, chain.place + 1
      from chain
      cross join lateral (${selectReadable(reader, sql`r.id = chain.previous_id`)} limit 1) r
      where chain.place < ${most}::int4
    )
    select id, previous_id as "previousId", is_failed as "isFailed", input_bytes as "inputBytes",
      response_bytes as "responseBytes"
    from chain order by place`.execute(db)
  return rows
}

/** The contents by id, without responses that were deleted meanwhile. */
export async function readResponses(
  db: Database,
  reader: ResponseReader,
  ids: readonly string[],
  parts: 'all' | 'response',
): Promise<Map<string, SealedParts>> {
  const input = parts === 'all' ? sql`input_sealed` : sql`null::bytea`
  const { rows } = await sql<SealedParts>`
    select id, ${input} as input, response_sealed as response
    from (${selectReadable(reader, isOneOf(ids))}) r`.execute(db)
  return new Map(rows.map((row) => [row.id, row]))
}

function isOneOf(ids: readonly string[]): RawBuilder<unknown> {
  return sql`r.id = any(${[...ids]}::uuid[])`
}
