/**
 * Acts of a customer that guard the account. Each writes its audit row and queues its warning mail in one transaction;
 * `second-factor.ts`, `passkeys.ts` and `sessions.ts` only change the rows.
 *
 * better-auth stores a new passkey and a new password itself, and none of its hooks runs in the transaction of that
 * write: `databaseHooks` get no connection, an `after` hook is postponed until the write is committed, and the passkey
 * plugin calls none. `recordNewPasskey`, `recordNewPassword` and `recordPasswordReset` therefore run after the commit.
 * If the process dies or the database fails in between, the passkey or the password stays without an audit row and
 * without a mail.
 */
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import { findCustomer } from '../../customers/customers.ts'
import { inTransaction, type Database } from '../../platform/db/open.ts'
import { queueMail } from '../../deliveries/email/queue-mail.ts'
import type { SecurityAct } from '../../deliveries/email/security-templates.ts'
import { createId } from '../../platform/lib/ids.ts'
import { deletePasskey } from './passkeys.ts'
import { proveUser } from './prove-user.ts'
import { deleteLinkedAccount, PROVIDER_NAMES, type Provider } from './providers.ts'
import { confirmSecondFactor, deleteSecondFactor, replaceCodesOfFactor } from './second-factor.ts'
import {
  deleteOtherSessions,
  deleteSession,
  forgetFactor,
  markProved,
  type Session,
} from './sessions.ts'

type ReportAct = (
  act: SecurityAct,
  subjectId: string,
  /** `name` is the passkey's or the provider's name; only the mail contains it. */
  more?: { readonly details?: Readonly<Record<string, unknown>>; readonly name?: string },
) => Promise<void>

interface OfSession {
  readonly session: Session
}

/** Returns the backup codes, which only this answer contains; undefined if no checked secret waits to be enabled. */
export function enableSecondFactor(
  db: Database,
  actor: Actor,
  { session: { id, userId, customerId } }: OfSession,
): Promise<string[] | undefined> {
  return guarding(db, actor, customerId, async (trx, report) => {
    const backupCodes = await confirmSecondFactor(trx, userId)
    if (!backupCodes) return undefined
    // Its first code was entered in this session, and in no other.
    await markProved(trx, { sessionId: id, byCode: true })
    await report('second_factor.enabled', customerId)
    return backupCodes
  })
}

/** Disables the second factor. Returns false if none is enabled. */
export function disableSecondFactor(
  db: Database,
  actor: Actor,
  { session: { userId, customerId } }: OfSession,
): Promise<boolean> {
  return guarding(db, actor, customerId, async (trx, report) => {
    if (!(await deleteSecondFactor(trx, userId))) return false
    await forgetFactor(trx, userId)
    await report('second_factor.disabled', customerId)
    return true
  })
}

/** Returns the new backup codes, which only this answer contains; undefined if no second factor is enabled. */
export function renewBackupCodes(
  db: Database,
  actor: Actor,
  { session: { userId, customerId } }: OfSession,
): Promise<string[] | undefined> {
  return guarding(db, actor, customerId, async (trx, report) => {
    const backupCodes = await replaceCodesOfFactor(trx, userId)
    if (backupCodes) await report('backup_codes.renewed', customerId)
    return backupCodes
  })
}

/** Records a new passkey. Call it after better-auth has stored it. */
export function recordNewPasskey(
  db: Database,
  actor: Actor,
  { session: { customerId }, id, name }: OfSession & { readonly id: string; readonly name: string },
): Promise<void> {
  return guarding(db, actor, customerId, (_trx, report) => report('passkey.added', id, { name }))
}

/** Removes a passkey, and ends every other login session, as `unlinkProvider` does. Returns false if the user has no such passkey. */
export function removePasskey(
  db: Database,
  actor: Actor,
  { session, id }: OfSession & { readonly id: string },
): Promise<boolean> {
  const { userId, customerId } = session
  return guarding(db, actor, customerId, async (trx, report) => {
    const name = await deletePasskey(trx, { userId, id })
    if (name === undefined) return false
    await deleteOtherSessions(trx, session)
    await report('passkey.removed', id, { name })
    return true
  })
}

/**
 * Unlinks the user's account at a provider, and ends every other login session: one of them may have been opened by that
 * account. Returns false if there is none. It locks nobody out: a link by mail to the
 * address of the account always opens it. Nor does it keep the account at the provider out for good: while that has the
 * address, verified, signing in by it links it anew, and the owner is warned again.
 */
export function unlinkProvider(
  db: Database,
  actor: Actor,
  { session, provider }: OfSession & { readonly provider: Provider },
): Promise<boolean> {
  const { userId, customerId } = session
  return guarding(db, actor, customerId, async (trx, report) => {
    if (!(await deleteLinkedAccount(trx, { userId, provider }))) return false
    await deleteOtherSessions(trx, session)
    const name = PROVIDER_NAMES[provider]
    await report('provider.unlinked', customerId, { details: { provider }, name })
    return true
  })
}

/** Call it after better-auth has stored the password. Ends every other login session. */
export function recordNewPassword(
  db: Database,
  actor: Actor,
  { session }: OfSession,
): Promise<void> {
  const { customerId } = session
  return guarding(db, actor, customerId, async (trx, report) => {
    await deleteOtherSessions(trx, session)
    await report('password.changed', customerId)
  })
}

/**
 * Call it before better-auth links an account at a provider to a user: an act may stay of a link that was not stored. A
 * user who was just made has no customer, and so no audit row: their first session is in one.
 */
export function recordLinkedProvider(
  db: Database,
  {
    userId,
    provider,
    ip,
  }: { readonly userId: string; readonly provider: Provider; readonly ip: string | undefined },
): Promise<void> {
  return inTransaction(db, async (trx) => {
    const user = await trx
      .selectFrom('sign_in_users')
      .select('email')
      .where('id', '=', userId)
      .executeTakeFirst()
    // The address decides, and a user has one account of each provider: another one with the address takes its place.
    await trx
      .deleteFrom('sign_in_accounts')
      .where('user_id', '=', userId)
      .where('provider_id', '=', provider)
      .execute()
    const customer = user && (await findCustomer(trx, user.email))
    if (!customer) return
    const actor = { kind: 'customer', customerId: customer.id, ...(ip ? { ip } : {}) } as const
    await guarding(trx, actor, customer.id, (_trx, report) =>
      report('provider.linked', customer.id, {
        details: { provider },
        name: PROVIDER_NAMES[provider],
      }),
    )
  })
}

/**
 * Call it after better-auth has stored a password that was set by a link in a mail. The link proves control of the
 * address, and the new password replaces any that another person set. A user who never signed in has no customer, and
 * so no audit row.
 */
export function recordPasswordReset(
  db: Database,
  { id: userId, email }: { readonly id: string; readonly email: string },
): Promise<void> {
  return inTransaction(db, async (trx) => {
    await proveUser(trx, userId)
    const customer = await findCustomer(trx, email)
    if (!customer) return
    const { id: customerId } = customer
    await guarding(trx, { kind: 'customer', customerId }, customerId, (_trx, report) =>
      report('password.changed', customerId),
    )
  })
}

/** Ends a login session. Returns false if the user has no such session. */
export function endSession(
  db: Database,
  actor: Actor,
  { session: { userId, customerId }, id }: OfSession & { readonly id: string },
): Promise<boolean> {
  return guarding(db, actor, customerId, async (trx, report) => {
    if (!(await deleteSession(trx, { userId, id }))) return false
    await report('session.ended', id)
    return true
  })
}

/** Returns the number of login sessions that it ended. */
export function endOtherSessions(
  db: Database,
  actor: Actor,
  { session }: OfSession,
): Promise<number> {
  const { customerId } = session
  return guarding(db, actor, customerId, async (trx, report) => {
    const ended = await deleteOtherSessions(trx, session)
    if (ended > 0) await report('sessions.ended', customerId, { details: { ended } })
    return ended
  })
}

/** Runs the work with a `report` that records an act in the audit log and warns the customer by mail. */
function guarding<Result>(
  db: Database,
  actor: Actor,
  customerId: string,
  work: (trx: Database, report: ReportAct) => Promise<Result>,
): Promise<Result> {
  return audited(db, actor, (trx, record) =>
    work(trx, async (act, subjectId, { details, name } = {}) => {
      await record({ action: act, customerId, subjectId, ...(details ? { details } : {}) })
      const { ip } = actor
      await queueSecurityMail(trx, customerId, act, {
        ...(ip ? { ip } : {}),
        ...(name ? { name } : {}),
      })
    }),
  )
}

export function queueSecurityMail(
  trx: Database,
  customerId: string,
  act: SecurityAct,
  more: { readonly ip?: string; readonly name?: string } = {},
): Promise<void> {
  return queueMail(trx, {
    customerId,
    template: 'seguranca_da_conta',
    data: { act, at: new Date().toISOString(), ...more },
    reference: createId(),
  })
}
