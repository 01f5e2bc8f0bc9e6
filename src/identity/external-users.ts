/** Maps users of the identity provider to customers. */
import { sql } from 'kysely'
import type { Database } from '../platform/db/open.ts'
import { sha256 } from '../platform/lib/ids.ts'

export interface ExternalUser {
  readonly idHash: Buffer
  /** Null if no earlier event created a customer. */
  readonly customerId: string | null
  readonly changedAt: Date | null
  readonly deletedAt: Date | null
}

/** Locks the user's row, so that concurrent messages about one user are handled in turn; creates it if needed. */
export async function lockExternalUser(trx: Database, externalId: string): Promise<ExternalUser> {
  const idHash = sha256(`external user ${externalId}`)
  await sql`insert into external_users (external_id_hash) values (${idHash})
    on conflict do nothing`.execute(trx)
  return trx
    .selectFrom('external_users')
    .select(['external_id_hash as idHash', 'customer_id as customerId'])
    .select(['changed_at as changedAt', 'deleted_at as deletedAt'])
    .where('external_id_hash', '=', idHash)
    .forUpdate()
    .executeTakeFirstOrThrow()
}

export async function linkExternalUser(
  trx: Database,
  { idHash }: ExternalUser,
  { customerId, changedAt }: { customerId: string; changedAt: Date },
): Promise<void> {
  await trx
    .updateTable('external_users')
    .set({ customer_id: customerId, changed_at: changedAt })
    .where('external_id_hash', '=', idHash)
    .execute()
}

export async function markExternalUserDeleted(
  trx: Database,
  { idHash }: ExternalUser,
): Promise<void> {
  await sql`update external_users set deleted_at = coalesce(deleted_at, now())
    where external_id_hash = ${idHash}`.execute(trx)
}

/** Customers whose user was deleted but whose account still exists. */
export async function listCustomersToDelete(db: Database): Promise<string[]> {
  const rows = await db
    .selectFrom('external_users')
    .innerJoin('customers', 'customers.id', 'external_users.customer_id')
    .select('customers.id')
    .where('external_users.deleted_at', 'is not', null)
    .where('customers.deleted_at', 'is', null)
    .execute()
  return rows.map(({ id }) => id)
}
