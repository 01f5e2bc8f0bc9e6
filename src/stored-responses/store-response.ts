import { sql } from 'kysely'
import type { Database } from '../db/open.ts'
import { STORED_BYTES_MAX, STORED_RESPONSES_MAX } from './response-limits.ts'

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

/**
 * Stores a response if the account still wants it, and deletes its oldest ones beyond the limits: several at once may
 * exceed them until the next one. Returns false if nothing was stored.
 */
export async function storeResponse(db: Database, response: SealedResponse): Promise<boolean> {
  const { id, customerId, keyId, previousId, isFailed, input } = response
  const bytes = input.bytes + response.response.bytes
  const { rows } = await sql`
    with newest as (
      select id, row_number() over w as place, sum(input_bytes + response_bytes) over w as total
      from stored_responses where customer_id = ${customerId}
      window w as (order by created_at desc, id desc)
    ), excess as (
      -- In one order, so that responses that are stored at once do not wait for each other in a circle.
      select r.id from stored_responses r join newest n on n.id = r.id
      where n.place >= ${STORED_RESPONSES_MAX}::int8 or n.total > ${STORED_BYTES_MAX - bytes}::int8
      order by r.id for update of r
    ), evicted as (
      delete from stored_responses r using excess e where r.id = e.id
    )
    insert into stored_responses
      (id, customer_id, api_key_id, previous_id, is_failed, input_bytes, response_bytes, input_sealed, response_sealed)
    select ${id}, c.id, ${keyId}, ${previousId}, ${isFailed}, ${input.bytes}, ${response.response.bytes},
      ${input.sealed}, ${response.response.sealed}
    -- Waits for a running deletion of the account, which resets the setting; a later one waits for this row.
    from customers c where c.id = ${customerId} and c.stored_responses_days is not null for key share of c
    returning id`.execute(db)
  return rows.length > 0
}
