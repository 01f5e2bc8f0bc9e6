/**
 * Deletes accounts, a right that the LGPD grants (art. 18 VI), and keeps the records that the law requires (art. 16 I):
 * the ledger, usage and the audit log, with ids only. `inventory.ts` lists it table by table.
 *
 * One transaction ends the account: balance, keys, teams and the customer's identity. Large tables are erased in batches
 * afterwards (`erase-remains.ts`), because the transaction locks the account, and a lock held for seconds would stop
 * other customers' calls of the same batch.
 */
import { sql } from 'kysely'
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import { API_KEY_CHANNEL } from '../../customers/api-keys.ts'
import { findLimitRefusal, type KeyRefusal } from '../../customers/key-makers.ts'
import type { Database } from '../../platform/db/open.ts'
import { debit, findAccount, lockAccount } from '../../money/ledger/entries.ts'
import type { NanoBrl } from '../../platform/lib/money.ts'

export type DeletionOutcome =
  | {
      readonly kind: 'deleted'
      readonly deletedAt: Date
      readonly waivedNanoBrl: NanoBrl
      readonly revokedKeyIds: readonly string[]
    }
  /** An earlier call deleted it. */
  | { readonly kind: 'already_deleted' }
  | { readonly kind: 'customer_not_found' }
  /** Calls are running, and money is held for them. */
  | { readonly kind: 'calls_running' }
  /** A refund waits for an operator, who may reject it: its money would return to an account that nobody can reach. */
  | { readonly kind: 'refund_in_review' }
  | { readonly kind: 'balance_remaining'; readonly balanceNanoBrl: NanoBrl }
  | KeyRefusal

/** Replaces the customer's name. */
const ERASED_NAME = 'Conta excluída'

/** A debt does not prevent the deletion, and stays in the books. Joins the transaction of `db`, or opens one. */
export function deleteAccount(
  db: Database,
  actor: Actor,
  { customerId, waiveBalance }: { customerId: string; waiveBalance: boolean },
): Promise<DeletionOutcome> {
  return audited(db, actor, async (trx, record) => {
    const state = await lockAll(trx, customerId)
    if (state !== 'open') return { kind: state }
    const account = await findAccount(trx, customerId)
    const balance = account?.balanceNanoBrl ?? 0n
    if (await areCallsRunning(trx, customerId)) return { kind: 'calls_running' }
    if (await isRefundInReview(trx, customerId)) return { kind: 'refund_in_review' }
    if (balance > 0n && !waiveBalance) return { kind: 'balance_remaining', balanceNanoBrl: balance }
    const waived = balance > 0n ? balance : 0n
    const refusal = waived > 0n ? await findLimitRefusal(trx, { actor }) : undefined
    if (refusal) return refusal
    if (waived > 0n) await waive(trx, customerId, waived)
    const revokedKeyIds = await endKeys(trx, customerId)
    await endTeams(trx, customerId)
    await eraseMailsTo(trx, customerId)
    await eraseSignIn(trx, customerId)
    await trx.deleteFrom('profiles').where('customer_id', '=', customerId).execute()
    await trx
      .updateTable('refunds')
      .set({ reason: null })
      .where('customer_id', '=', customerId)
      .execute()
    await queuePayerRemoval(trx, customerId)
    await eraseCards(trx, customerId)
    await trx.deleteFrom('idempotency_keys').where('customer_id', '=', customerId).execute()
    await trx.deleteFrom('balance_watches').where('customer_id', '=', customerId).execute()
    const deletedAt = await eraseCustomer(trx, customerId)
    await record({
      action: 'account.deleted',
      customerId,
      subjectId: customerId,
      details: { waived: waived > 0n, api_keys_revoked: revokedKeyIds.length },
    })
    return { kind: 'deleted', deletedAt, waivedNanoBrl: waived, revokedKeyIds }
  })
}

/**
 * Locks the account first and then the customer, the order that every transaction follows; no new call can hold money
 * from then on. Then locks keys, teams and invitations in the order in which their changes lock them, and finally the
 * customer's row `for update`, so that nothing more is written for the customer. A team that was created a moment ago
 * may be locked out of order.
 */
async function lockAll(
  trx: Database,
  customerId: string,
): Promise<'open' | 'already_deleted' | 'customer_not_found'> {
  await lockAccount(trx, customerId)
  await sql`select 1 from customers where id = ${customerId} for no key update`.execute(trx)
  await sql`
    select 1 from api_keys where customer_id = ${customerId} or created_by = ${customerId}
    order by id for no key update`.execute(trx)
  await sql`
    select 1 from teams where customer_id = ${customerId} order by id for no key update`.execute(
    trx,
  )
  await sql`
    select 1 from team_invitations
    where email = (select lower(email) from customers where id = ${customerId})
    order by id for update`.execute(trx)
  const { rows } = await sql<{ deleted_at: Date | null }>`
    select deleted_at from customers where id = ${customerId} for update`.execute(trx)
  const [customer] = rows
  if (!customer) return 'customer_not_found'
  return customer.deleted_at ? 'already_deleted' : 'open'
}

/** Looks for holds as well as held money: the hold of a call to a free model is zero. */
async function areCallsRunning(trx: Database, customerId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from holds where customer_id = ${customerId}
    union all select 1 from accounts where customer_id = ${customerId} and held_nano_brl > 0
    limit 1`.execute(trx)
  return rows.length > 0
}

async function isRefundInReview(trx: Database, customerId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from refunds where customer_id = ${customerId} and status = 'requested' limit 1`.execute(
    trx,
  )
  return rows.length > 0
}

async function waive(trx: Database, customerId: string, amountNanoBrl: NanoBrl): Promise<void> {
  const outcome = await debit(trx, {
    customerId,
    amountNanoBrl,
    reason: 'account_closed',
    reference: customerId,
  })
  if (outcome.kind !== 'posted') throw new Error(`the balance was not debited: ${outcome.kind}`)
}

/** Revokes the customer's keys, also those made for other customers' teams. Returns the ids of the active ones. */
async function endKeys(trx: Database, customerId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with mine as (
      select id, revoked_at is null as is_active from api_keys
      where customer_id = ${customerId} or created_by = ${customerId}
    ), ended as (
      -- The customer wrote the name and the addresses.
      update api_keys k set
        revoked_at = coalesce(k.revoked_at, now()),
        version = k.version + 1,
        name = 'excluída',
        ip_allowlist = null
      from mine where k.id = mine.id
      returning k.id, mine.is_active
    )
    select id, pg_notify(${API_KEY_CHANNEL}, id::text) from ended where is_active`.execute(trx)
  return rows.map(({ id }) => id)
}

/** Closes the customer's teams, ends other memberships, and erases invitations with their e-mail addresses. */
async function endTeams(trx: Database, customerId: string): Promise<void> {
  await sql`
    update teams set deleted_at = coalesce(deleted_at, now()), name = 'Equipe excluída'
    where customer_id = ${customerId}`.execute(trx)
  await sql`
    delete from team_members where customer_id = ${customerId}
      or team_id in (select id from teams where customer_id = ${customerId})`.execute(trx)
  await sql`
    delete from team_invitations where invited_by = ${customerId}
      or team_id in (select id from teams where customer_id = ${customerId})
      or email = (select lower(email) from customers where id = ${customerId})`.execute(trx)
}

/** Top-ups keep the last four digits of their card. The order follows the foreign key. */
async function eraseCards(trx: Database, customerId: string): Promise<void> {
  await trx.deleteFrom('automatic_top_ups').where('customer_id', '=', customerId).execute()
  await trx.deleteFrom('payment_methods').where('customer_id', '=', customerId).execute()
  await trx.deleteFrom('card_attempts').where('customer_id', '=', customerId).execute()
}

/** Erases mails to this address that other customers caused. It must run before the address itself is erased. */
async function eraseMailsTo(trx: Database, customerId: string): Promise<void> {
  await sql`
    delete from mails where email = (select lower(email) from customers where id = ${customerId})`.execute(
    trx,
  )
  await sql`
    delete from sandbox_mails
    where email = (select lower(email) from customers where id = ${customerId})`.execute(trx)
}

/** Erases the user who signed in with this address, with login sessions, passwords and the links in unread mails. */
async function eraseSignIn(trx: Database, customerId: string): Promise<void> {
  await sql`
    delete from sign_in_verifications v using customers c left join sign_in_users u on u.email = lower(c.email)
    where c.id = ${customerId}
      and (v.value = u.id::text or strpos(lower(v.value), '"' || lower(c.email) || '"') > 0)`.execute(
    trx,
  )
  await sql`
    delete from sign_in_users
    where email = (select lower(email) from customers where id = ${customerId})`.execute(trx)
}

/** The payment processor deletes the customer, too (`payments/remove-payers.ts`). */
async function queuePayerRemoval(trx: Database, customerId: string): Promise<void> {
  await sql`
    with removed as (delete from processor_customers where customer_id = ${customerId} returning *)
    insert into payer_removals (customer_id, processor)
    select customer_id, processor from removed`.execute(trx)
}

async function eraseCustomer(trx: Database, customerId: string): Promise<Date> {
  const { rows } = await sql<{ deleted_at: Date }>`
    update customers set name = ${ERASED_NAME}, email = null, referral_code = null, timezone = default,
      preferred_locale = default, weekly_digest_enabled = false, low_balance_email_enabled = default, incident_email_enabled = default, stored_responses_days = default,
      shield_action = default, shield_uuids = default, anomaly_factor = default, anomaly_floor_nano_brl = default,
      suspended_text = null, deleted_at = now()
    where id = ${customerId} returning deleted_at`.execute(trx)
  const [row] = rows
  if (!row) throw new Error('the customer does not exist')
  return row.deleted_at
}
