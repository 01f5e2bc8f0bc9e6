import { sql } from 'kysely'
import { SYSTEM, type Actor, type RecordAct } from '../platform/audit-log/audited.ts'
import { recordRevokedKeys, revokeKeysOf } from '../customers/key-acts.ts'
import type { Database } from '../platform/db/open.ts'
import type { Log } from '../platform/lib/log.ts'
import { deleteAccount } from './personal-data/delete-account.ts'
import { sha256 } from '../platform/lib/ids.ts'

/**
 * Deletes the account of a deleted user. If calls are running or a balance is left (which nobody has waived), the keys
 * are revoked at once, and a background job deletes the account as soon as the calls have ended and the operator has
 * paid the balance back.
 */
export async function deleteUser(
  trx: Database,
  record: RecordAct,
  actor: Actor,
  externalId: string,
): Promise<'account_deleted' | 'deletion_waits' | 'nothing_new'> {
  const known = await lockExternalUser(trx, externalId)
  await markExternalUserDeleted(trx, known)
  const { customerId } = known
  if (customerId === null) return 'nothing_new'
  const { kind } = await deleteAccount(trx, actor, { customerId, waiveBalance: false })
  if (kind === 'deleted') return 'account_deleted'
  if (kind === 'already_deleted' || kind === 'customer_not_found') return 'nothing_new'
  await recordRevokedKeys(trx, record, await revokeKeysOf(trx, customerId))
  if (!known.deletedAt)
    await record({
      action: 'account.deletion_waits',
      customerId,
      subjectId: customerId,
      details: { by: 'identity_provider', reason: kind },
    })
  return 'deletion_waits'
}

/** Retries deletions that had to wait. Returns the number of accounts that it deleted. */
export async function deleteWaitingUsers(db: Database, log: Log): Promise<number> {
  let deleted = 0
  for (const customerId of await listCustomersToDelete(db)) {
    const { kind } = await deleteAccount(db, SYSTEM, { customerId, waiveBalance: false })
    if (kind === 'deleted') deleted += 1
    else log.warn('account_deletion_waits', { customerId, reason: kind })
  }
  return deleted
}

/** A user of the identity provider, and the customer it belongs to. */
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

async function markExternalUserDeleted(trx: Database, { idHash }: ExternalUser): Promise<void> {
  await sql`update external_users set deleted_at = coalesce(deleted_at, now())
    where external_id_hash = ${idHash}`.execute(trx)
}

/** Customers whose user was deleted but whose account still exists. */
async function listCustomersToDelete(db: Database): Promise<string[]> {
  const rows = await db
    .selectFrom('external_users')
    .innerJoin('customers', 'customers.id', 'external_users.customer_id')
    .select('customers.id')
    .where('external_users.deleted_at', 'is not', null)
    .where('customers.deleted_at', 'is', null)
    .execute()
  return rows.map(({ id }) => id)
}
