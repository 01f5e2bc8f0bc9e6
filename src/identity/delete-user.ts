import { SYSTEM, type Actor, type RecordAct } from '../platform/audit-log/audited.ts'
import { recordRevokedKeys } from '../customers/key-acts.ts'
import { revokeKeysOf } from '../customers/revoke-keys-of.ts'
import type { Database } from '../platform/db/open.ts'
import type { Log } from '../platform/lib/log.ts'
import { deleteAccount } from './personal-data/delete-account.ts'
import {
  listCustomersToDelete,
  lockExternalUser,
  markExternalUserDeleted,
} from './external-users.ts'

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
