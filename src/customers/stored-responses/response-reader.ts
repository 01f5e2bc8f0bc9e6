import { sql, type RawBuilder } from 'kysely'

/** Who reads stored responses, or continues them. */
export interface ResponseReader {
  readonly customerId: string
  /** The key that calls; null: a login session of the customer. */
  readonly keyId: string | null
  /** Reads the responses of all of the customer's own keys, and not of that key alone. */
  readonly seesAccount: boolean
}

/**
 * Selects the rows `r` of `stored_responses` that meet the condition and that this reader may see. A response is gone as
 * soon as the account's time for it is over, before a job deletes it. What a team's key made is read by that key alone.
 */
export function selectReadable(
  { customerId, keyId, seesAccount }: ResponseReader,
  condition: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`
    select r.* from stored_responses r
    join customers c on c.id = r.customer_id
    join api_keys k on k.id = r.api_key_id
    where ${condition} and r.customer_id = ${customerId}
      and r.created_at > now() - make_interval(days => c.stored_responses_days)
      and (r.api_key_id = ${keyId}::uuid or (${seesAccount} and k.team_id is null))`
}
