import { sql, type RawBuilder } from 'kysely'
import type { Database } from '../platform/db/open.ts'
import { API_KEY_CHANNEL } from './api-keys.ts'

/**
 * Gives the customer's active keys that meet the condition a new version, so that no node holds money for a call that it
 * read under the old one. Locks all keys of the customer in the order of their ids; the customer is locked before.
 */
export async function renewKeys(
  trx: Database,
  customerId: string,
  condition: RawBuilder<unknown> = sql`true`,
): Promise<void> {
  await sql`
    select 1 from api_keys where customer_id = ${customerId} order by id for no key update`.execute(
    trx,
  )
  await sql`
    with changed as (
      update api_keys set version = version + 1
      where customer_id = ${customerId} and revoked_at is null and ${condition} returning id
    )
    select pg_notify(${API_KEY_CHANNEL}, id::text) from changed`.execute(trx)
}
