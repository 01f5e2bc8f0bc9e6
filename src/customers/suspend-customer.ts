/**
 * Suspends an account until an operator reinstates it: model calls and top-ups are refused, and everything else keeps
 * working. The customer is told why. Every key gets a new version, so that a node with a stale copy cannot hold money.
 */
import { sql } from 'kysely'
import { audited, type Actor } from '../platform/audit-log/audited.ts'
import { isOwnAccount } from '../platform/audit-log/is-own-account.ts'
import type { Database } from '../platform/db/open.ts'
import { recordEvent, type EventType } from '../platform/events/record-event.ts'
import { renewKeys } from './renew-keys.ts'

export type SuspensionCause = 'chargeback' | 'operator'

/** What the customer reads where nobody wrote a text. */
const REASONS: Readonly<Record<SuspensionCause, string>> = {
  chargeback: 'O pagamento de uma recarga foi contestado junto ao banco ou ao emissor do cartão.',
  operator: 'A operação do serviço suspendeu a conta.',
}

/**
 * Suspends an account. Call it in a transaction that has locked the account. Returns false if it was suspended before.
 */
export function suspendCustomer(
  trx: Database,
  customerId: string,
  cause: SuspensionCause,
  reason = REASONS[cause],
): Promise<boolean> {
  return change(
    trx,
    customerId,
    sql`suspended_at = now(), suspended_reason = ${cause}, suspended_text = ${reason}`,
    sql`suspended_at is null`,
    { type: 'account.suspended', data: { cause, reason } },
  )
}

/**
 * Lifts the suspension of an account. Call it in a transaction that has locked the account. Returns false if it was not
 * suspended.
 */
export function reinstateCustomer(trx: Database, customerId: string): Promise<boolean> {
  return change(
    trx,
    customerId,
    sql`suspended_at = null, suspended_reason = null, suspended_text = null`,
    sql`suspended_at is not null`,
    { type: 'account.reinstated', data: {} },
  )
}

/**
 * Suspends an account by hand for a reason that the customer reads, or reinstates it if none is given. Call it in a
 * transaction that has locked the account. Without effect if the account is in that state already. Returns false for an
 * account of the operator's own.
 */
export function changeSuspension(
  db: Database,
  actor: Actor,
  { customerId, reason }: { customerId: string; reason: string | undefined },
): Promise<boolean> {
  return audited(db, actor, async (trx, record) => {
    if (await isOwnAccount(trx, { operatorId: actor.customerId, customerId })) return false
    const isChanged =
      reason === undefined
        ? await reinstateCustomer(trx, customerId)
        : await suspendCustomer(trx, customerId, 'operator', reason)
    const action = reason === undefined ? 'customer.reinstated' : 'customer.suspended'
    if (isChanged) await record({ action, customerId, subjectId: customerId })
    return true
  })
}

export interface Suspension {
  readonly since: Date
  readonly cause: SuspensionCause
  /** For the customer. */
  readonly reason: string
}

export async function findSuspension(
  db: Database,
  customerId: string,
): Promise<Suspension | undefined> {
  const row = await db
    .selectFrom('customers')
    .select(['suspended_at as since', 'suspended_reason as cause', 'suspended_text as reason'])
    .where('id', '=', customerId)
    .executeTakeFirst()
  if (!row?.since || !row.cause) return undefined
  return { since: row.since, cause: row.cause, reason: row.reason ?? REASONS[row.cause] }
}

export async function isSuspended(db: Database, customerId: string): Promise<boolean> {
  return (await findSuspension(db, customerId)) !== undefined
}

async function change(
  trx: Database,
  customerId: string,
  values: ReturnType<typeof sql>,
  condition: ReturnType<typeof sql>,
  event: { type: EventType; data: Readonly<Record<string, unknown>> },
): Promise<boolean> {
  // The customer is locked before the keys, as in a transaction that creates a key.
  const { rows } = await sql`
    update customers set ${values} where id = ${customerId} and ${condition} returning id`.execute(
    trx,
  )
  if (rows.length === 0) return false
  await renewKeys(trx, customerId)
  await recordEvent(trx, { customerId, ...event })
  return true
}
