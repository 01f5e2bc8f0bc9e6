import { sql } from 'kysely'
import type { Database } from '../platform/db/open.ts'
import { API_KEY_CHANNEL } from './api-keys.ts'
import type { KeyFacts } from './key-acts.ts'

/** Revokes the customer's keys and those that they created for other customers' teams, on all nodes. Returns them. */
export async function revokeKeysOf(db: Database, customerId: string): Promise<KeyFacts[]> {
  const { rows } = await sql<KeyFacts>`
    with revoked as (
      update api_keys set revoked_at = now(), version = version + 1
      where (customer_id = ${customerId} or created_by = ${customerId}) and revoked_at is null
      returning id, customer_id, name, last_four
    )
    select id, customer_id as "customerId", name, last_four as "lastFour",
      pg_notify(${API_KEY_CHANNEL}, id::text)
    from revoked`.execute(db)
  return rows
}
