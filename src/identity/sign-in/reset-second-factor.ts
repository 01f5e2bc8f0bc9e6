/**
 * Operators reset the second factor of a customer who lost it. It takes two of them: the first one's request changes
 * nothing but warns the customer by mail, and the same act of another operator within a day carries it out. Whoever runs
 * the command line has the database, and needs no second person.
 */
import { sql } from 'kysely'
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import { isOwnAccount } from '../../platform/audit-log/is-own-account.ts'
import type { Database } from '../../platform/db/open.ts'
import { isUuid } from '../../platform/lib/ids.ts'
import { queueSecurityMail } from './security-acts.ts'
import { deleteSecondFactor } from './second-factor.ts'
import { endSessionsOf } from './sessions.ts'

const REQUEST_HOURS = 24

export interface FactorState {
  readonly isOn: boolean
  /** The request of an operator that another one has not carried out. */
  readonly reset: FactorReset | undefined
}

export interface FactorReset {
  readonly requestedBy: string
  readonly requestedAt: Date
  readonly reason: string
}

interface FactorRow extends FactorReset {
  readonly userId: string
  readonly isPending: boolean
}

/** Rows of factors that are enabled, `f`, with their customers, `c`. */
const FACTORS = sql`sign_in_second_factors f
  join sign_in_users u on u.id = f.user_id and u.is_verified
  join customers c on lower(c.email) = u.email and c.deleted_at is null
  where f.enabled_at is not null`

const IS_PENDING = sql`f.reset_requested_at > now() - make_interval(hours => ${REQUEST_HOURS}::int4)`

export async function findFactorState(db: Database, customerId: string): Promise<FactorState> {
  const row = await findFactor(db, customerId, sql``)
  return { isOn: row !== undefined, reset: row?.isPending ? row : undefined }
}

/** The customers whose reset waits for a second operator, the oldest request first. */
export async function listFactorResets(db: Database): Promise<(FactorReset & { id: string })[]> {
  const { rows } = await sql<FactorReset & { id: string }>`
    select c.id, f.reset_requested_by as "requestedBy", f.reset_requested_at as "requestedAt",
      f.reset_reason as reason
    from ${FACTORS} and ${IS_PENDING} order by f.reset_requested_at limit 100`.execute(db)
  return rows
}

export type ResetOutcome =
  /** It waits for another operator; also where this one had asked before. */
  | { readonly kind: 'waiting' }
  /** Also where the customer had none. */
  | { readonly kind: 'off' }
  | { readonly kind: 'customer_not_found' }
  | { readonly kind: 'own_account' }

/** A reset turns the factor off and ends all sessions of the customer; passkeys stay. */
export function resetSecondFactor(
  db: Database,
  actor: Actor,
  { customerId, reason }: { readonly customerId: string; readonly reason: string },
): Promise<ResetOutcome> {
  return audited<ResetOutcome>(db, actor, async (trx, record) => {
    if (!isUuid(customerId) || !(await isCustomer(trx, customerId)))
      return { kind: 'customer_not_found' }
    if (await isOwnAccount(trx, { operatorId: actor.customerId, customerId }))
      return { kind: 'own_account' }
    const factor = await findFactor(trx, customerId, sql`for update of f`)
    if (!factor) return { kind: 'off' }
    const isSecond = factor.isPending && factor.requestedBy !== actor.customerId
    const isReset = actor.kind === 'operator' || isSecond
    if (!isReset && factor.isPending) return { kind: 'waiting' }
    if (isReset) {
      await deleteSecondFactor(trx, factor.userId)
      await endSessionsOf(trx, customerId, undefined)
    } else {
      await sql`
        update sign_in_second_factors set reset_requested_by = ${actor.customerId},
          reset_requested_at = now(), reset_reason = ${reason}
        where user_id = ${factor.userId}`.execute(trx)
    }
    const action = isReset ? 'second_factor.reset' : 'second_factor.reset_requested'
    await record({ action, customerId, subjectId: customerId })
    await queueSecurityMail(trx, customerId, action)
    return { kind: isReset ? 'off' : 'waiting' }
  })
}

async function isCustomer(db: Database, id: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from customers where id = ${id} and deleted_at is null`.execute(db)
  return rows.length > 0
}

async function findFactor(
  db: Database,
  customerId: string,
  lock: ReturnType<typeof sql>,
): Promise<FactorRow | undefined> {
  const { rows } = await sql<FactorRow>`
    select f.user_id as "userId", coalesce(${IS_PENDING}, false) as "isPending",
      f.reset_requested_by as "requestedBy", f.reset_requested_at as "requestedAt",
      f.reset_reason as reason
    from ${FACTORS} and c.id = ${customerId} ${lock}`.execute(db)
  return rows[0]
}
