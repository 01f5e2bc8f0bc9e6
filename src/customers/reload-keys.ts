import { sql } from 'kysely'
import type { Database } from '../platform/db/open.ts'
import { API_KEY_CHANNEL } from './api-keys.ts'

/**
 * Makes every node read the customer's active keys again, for a setting of the account that comes with them. Calls that
 * were read under the former setting go on: unlike `renewKeys`, this refuses none.
 */
export async function reloadKeys(trx: Database, customerId: string): Promise<void> {
  await sql`
    select pg_notify(${API_KEY_CHANNEL}, id::text) from api_keys
    where customer_id = ${customerId} and revoked_at is null`.execute(trx)
}
