/**
 * Responses that an account has stored, each sealed for its row: access to the database alone opens none. This room
 * knows the texts and their readers; the content belongs to the format (`gateway/calls/chat/formats/responses`).
 */
import { sql, type RawBuilder } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import { seal, SealError, unseal } from '../../platform/lib/seal.ts'
import { CONVERSATION_MAX, STORED_PART_BYTES_MAX, storeResponse } from './store-response.ts'
import { mayRead, type Reader } from './reader.ts'
import { audited, type Actor } from '../../platform/audit-log/audited.ts'

/** Rows of one statement: a row may have megabytes. */
const BATCH = 100

/** Deletes responses whose time is over, and those of accounts that no longer store any. */
export async function pruneStoredResponses(
  db: Database,
  isOver: () => boolean = () => false,
): Promise<void> {
  const { rows } = await sql<{ customer_id: string }>`
    select c.id as customer_id from customers c
    where exists (select 1 from stored_responses r where r.customer_id = c.id and ${IS_OVER})`.execute(
    db,
  )
  for (const { customer_id } of rows) {
    let deleted = BATCH
    while (deleted === BATCH && !isOver()) deleted = await deleteBatch(db, customer_id)
  }
}

const IS_OVER = sql`(
  c.stored_responses_days is null or r.created_at <= now() - make_interval(days => c.stored_responses_days))`

async function deleteBatch(db: Database, customerId: string): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from stored_responses where id in (
      select r.id from stored_responses r join customers c on c.id = r.customer_id
      where r.customer_id = ${customerId} and ${IS_OVER} order by r.created_at, r.id limit ${BATCH})`.execute(
    db,
  )
  return Number(numAffectedRows)
}

/** The texts of a response; all of them are JSON. */
export interface ResponseTexts {
  /** The list of the input's items; undefined if it was not asked for. */
  readonly input?: string
  /** The list of the output's items. */
  readonly output: string
  /** The response, with an empty output. */
  readonly head: string
}

export interface ResponseToStore extends Required<ResponseTexts> {
  readonly id: string
  readonly customerId: string
  readonly keyId: string
  readonly previousId: string | null
  readonly isFailed: boolean
}

export interface ResponseStore {
  /** Returns false if nothing was stored: the account wants it no longer, or it is too large. */
  put(response: ResponseToStore): Promise<boolean>
  /** The newest first; see `measureConversation`. One more than a conversation may have shows that it is too long. */
  measureConversation(reader: Reader, id: string): Promise<FoundResponse[]>
  measure(reader: Reader, ids: readonly string[]): Promise<FoundResponse[]>
  /** By id, without responses that were deleted meanwhile or that no key opens. */
  read(
    reader: Reader,
    ids: readonly string[],
    parts: 'all' | 'response',
  ): Promise<ReadonlyMap<string, ResponseTexts>>
}

export function createResponseStore({
  db,
  sealingKey,
  previousSealingKey,
}: {
  readonly db: Database
  readonly sealingKey: Buffer
  readonly previousSealingKey?: Buffer | undefined
}): ResponseStore {
  const open = (id: string, sealed: Buffer): string =>
    unseal(sealingKey, id, sealed, previousSealingKey).toString()

  return {
    async put({ input, output, head, ...response }) {
      const texts = [Buffer.from(input), Buffer.from(`${output}\n${head}`)] as const
      if (texts.some(({ length }) => length > STORED_PART_BYTES_MAX)) return false
      const [sealedInput, sealedResponse] = texts.map((text) => ({
        sealed: seal(sealingKey, response.id, text),
        bytes: text.length,
      })) as [SealedPart, SealedPart]
      return storeResponse(db, { ...response, input: sealedInput, response: sealedResponse })
    },
    measureConversation: (reader, id) => measureConversation(db, reader, id, CONVERSATION_MAX + 1),
    measure: (reader, ids) => measureResponses(db, reader, ids),
    async read(reader, ids, parts) {
      const texts = new Map<string, ResponseTexts>()
      for (const sealed of (await readResponses(db, reader, ids, parts)).values()) {
        const opened = openTexts(sealed)
        if (opened) texts.set(sealed.id, opened)
      }
      return texts
    },
  }

  /** Undefined if no known key opens it; `doctor` counts such responses. */
  function openTexts({ id, input, response }: SealedParts): ResponseTexts | undefined {
    try {
      // JSON has no line breaks of its own.
      const [output = '', head = ''] = open(id, response).split('\n')
      return { output, head, ...(input ? { input: open(id, input) } : {}) }
    } catch (error) {
      if (error instanceof SealError) return undefined
      throw error
    }
  }
}

interface SealedPart {
  readonly sealed: Buffer
  readonly bytes: number
}

/** A stored response, still sealed. */
interface FoundResponse {
  readonly id: string
  readonly previousId: string | null
  readonly isFailed: boolean
  readonly inputBytes: number
  readonly responseBytes: number
}

interface SealedParts {
  readonly id: string
  /** Null if it was not asked for. */
  readonly input: Buffer | null
  readonly response: Buffer
}

/** The sizes of these responses, without those that the reader may not see. */
async function measureResponses(
  db: Database,
  reader: Reader,
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
async function measureConversation(
  db: Database,
  reader: Reader,
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
async function readResponses(
  db: Database,
  reader: Reader,
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

/** Returns false if the reader sees no such response. Responses that continue it stay, and can no longer be continued. */
export function deleteResponse(
  db: Database,
  actor: Actor,
  { reader, id }: { readonly reader: Reader; readonly id: string },
): Promise<boolean> {
  return audited(db, actor, async (trx, record) => {
    const { rows } = await sql`
      delete from stored_responses
      where id in (select id from (${selectReadable(reader, sql`r.id = ${id}`)}) r)
      returning id`.execute(trx)
    if (rows.length === 0) return false
    const { customerId } = reader
    await record({ action: 'response.deleted', customerId, subjectId: id })
    return true
  })
}

/**
 * Selects the rows `r` of `stored_responses` that meet the condition and that this reader may see. A response is gone as
 * soon as the account's time for it is over, before a job deletes it.
 */
function selectReadable(reader: Reader, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select r.* from stored_responses r join customers c on c.id = r.customer_id
    where ${condition} and ${mayRead(reader)}
      and r.created_at > now() - make_interval(days => c.stored_responses_days)`
}
