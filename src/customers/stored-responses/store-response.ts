import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'

/** An account keeps its newest responses within these limits; older ones make room for them. */
export const STORED_RESPONSES_MAX = 10_000
export const STORED_BYTES_MAX = 256 * 1024 * 1024
/** A request or a response beyond this is not stored. */
export const STORED_PART_BYTES_MAX = 8 * 1024 * 1024
/** The most responses of one conversation, and the most that a request refers to. */
export const CONVERSATION_MAX = 1_000
/** The most days for which an account may have its responses stored. */
export const STORED_DAYS_MAX = 30

export interface SealedResponse {
  /** The id of the call. */
  readonly id: string
  readonly customerId: string
  readonly keyId: string
  readonly previousId: string | null
  readonly isFailed: boolean
  readonly input: { readonly sealed: Buffer; readonly bytes: number }
  readonly response: { readonly sealed: Buffer; readonly bytes: number }
}

/** The sums of the account once this response is added to them. */
interface Sums {
  readonly responses: bigint
  readonly bytes: bigint
}

/** Rows of one statement: a row may have megabytes. */
const BATCH = 100

/**
 * Stores a response if the account still wants it, and deletes its oldest ones beyond the limits first. The work does
 * not depend on how many there are. Returns false if nothing was stored.
 */
export async function storeResponse(db: Database, response: SealedResponse): Promise<boolean> {
  const { customerId, input } = response
  const bytes = input.bytes + response.response.bytes
  const sums = await addToSums(db, customerId, bytes)
  if (!sums) return false
  while ((await evict(db, customerId, sums)) === BATCH);
  return insert(db, response, sums, bytes)
}

/** Undefined if the account stores no responses. */
async function addToSums(
  db: Database,
  customerId: string,
  bytes: number,
): Promise<Sums | undefined> {
  // Responses that are stored at once wait for each other here alone, and not for the disk: the insert makes it durable.
  const { rows } = await sql<Sums>`
    insert into stored_response_sums as s (customer_id, responses, bytes)
    select c.id, 1, ${bytes}::int8
    from customers c cross join (select set_config('synchronous_commit', 'off', true) offset 0) setting
    where c.id = ${customerId} and c.stored_responses_days is not null for key share of c
    on conflict (customer_id) do update set responses = s.responses + 1, bytes = s.bytes + excluded.bytes
    returning responses, bytes`.execute(db)
  return rows[0]
}

/** Deletes responses that have no room beside the newer ones, up to a batch; returns their number. */
async function evict(
  db: Database,
  customerId: string,
  { responses, bytes }: Sums,
): Promise<number> {
  // Another call is deleting the rows that are locked. Each part reads its index from the oldest on.
  const { numAffectedRows } = await sql`
    with oldest as (
      (select id from stored_responses where customer_id = ${customerId}
        and place <= ${responses - BigInt(STORED_RESPONSES_MAX)}::int8 order by place limit ${BATCH})
      union
      (select id from stored_responses where customer_id = ${customerId}
        and bytes_before < ${bytes - BigInt(STORED_BYTES_MAX)}::int8 order by bytes_before limit ${BATCH})
    ), excess as (
      select r.id from stored_responses r where r.id = any(array(select id from oldest))
      limit ${BATCH} for update skip locked
    )
    delete from stored_responses where id = any(array(select id from excess))`.execute(db)
  return Number(numAffectedRows)
}

async function insert(
  db: Database,
  { id, customerId, keyId, previousId, isFailed, input, response }: SealedResponse,
  sums: Sums,
  bytes: number,
): Promise<boolean> {
  const { rows } = await sql`
    insert into stored_responses
      (id, customer_id, api_key_id, previous_id, is_failed, input_bytes, response_bytes, input_sealed, response_sealed,
        place, bytes_before)
    select ${id}, c.id, ${keyId}, ${previousId}, ${isFailed}, ${input.bytes}, ${response.bytes},
      ${input.sealed}, ${response.sealed}, ${sums.responses}::int8, ${sums.bytes - BigInt(bytes)}::int8
    -- Waits for a running deletion of the account, which resets the setting; a later one waits for this row.
    from customers c where c.id = ${customerId} and c.stored_responses_days is not null for key share of c
    returning id`.execute(db)
  return rows.length > 0
}
