/**
 * Suspends an account until an operator reinstates it: model calls are refused, and everything else keeps working. Every
 * key gets a new version, so that a node with a stale copy cannot hold money.
 */
import { sql } from 'kysely'
import { audited, type Actor } from '../audit-log/audited.ts'
import { isOwnAccount } from '../audit-log/is-own-account.ts'
import type { Database } from '../db/open.ts'
import { renewKeys } from './renew-keys.ts'

export type SuspensionReason = 'chargeback' | 'operator'

/** Call it in a transaction that has locked the account. Returns false if it was suspended before. */
export function suspendCustomer(
  trx: Database,
  customerId: string,
  reason: SuspensionReason,
): Promise<boolean> {
  return change(
    trx,
    customerId,
    sql`suspended_at = now(), suspended_reason = ${reason}`,
    sql`suspended_at is null`,
  )
}

/** Call it in a transaction that has locked the account. Returns false if it was not suspended. */
export function reinstateCustomer(trx: Database, customerId: string): Promise<boolean> {
  return change(
    trx,
    customerId,
    sql`suspended_at = null, suspended_reason = null`,
    sql`suspended_at is not null`,
  )
}

/**
 * Suspends or reinstates an account by hand. Call it in a transaction that has locked the account. Without effect if
 * the account is in that state already. Returns false for an account of the operator's own.
 */
export function changeSuspension(
  db: Database,
  actor: Actor,
  { customerId, isSuspended }: { customerId: string; isSuspended: boolean },
): Promise<boolean> {
  return audited(db, actor, async (trx, record) => {
    if (await isOwnAccount(trx, { operatorId: actor.customerId, customerId })) return false
    const isChanged = isSuspended
      ? await suspendCustomer(trx, customerId, 'operator')
      : await reinstateCustomer(trx, customerId)
    const action = isSuspended ? 'customer.suspended' : 'customer.reinstated'
    if (isChanged) await record({ action, customerId, subjectId: customerId })
    return true
  })
}

export interface Suspension {
  readonly since: Date
  readonly reason: SuspensionReason
}

export async function findSuspension(
  db: Database,
  customerId: string,
): Promise<Suspension | undefined> {
  const row = await db
    .selectFrom('customers')
    .select(['suspended_at', 'suspended_reason'])
    .where('id', '=', customerId)
    .executeTakeFirst()
  return row?.suspended_at && row.suspended_reason
    ? { since: row.suspended_at, reason: row.suspended_reason }
    : undefined
}

export async function isSuspended(db: Database, customerId: string): Promise<boolean> {
  const row = await db
    .selectFrom('customers')
    .select('id')
    .where('id', '=', customerId)
    .where('suspended_at', 'is not', null)
    .executeTakeFirst()
  return row !== undefined
}

async function change(
  trx: Database,
  customerId: string,
  values: ReturnType<typeof sql>,
  condition: ReturnType<typeof sql>,
): Promise<boolean> {
  // The customer is locked before the keys, as in a transaction that creates a key.
  const { rows } = await sql`
    update customers set ${values} where id = ${customerId} and ${condition} returning id`.execute(
    trx,
  )
  if (rows.length === 0) return false
  await renewKeys(trx, customerId)
  return true
}
