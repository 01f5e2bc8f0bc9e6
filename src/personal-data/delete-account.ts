/**
 * Deletes accounts, as the LGPD gives everybody the right to (art. 18 VI), and keeps what the law asks to
 * keep (art. 16 I): the ledger, usage and the audit log, by ids alone. `inventory.ts` says it table by table.
 *
 * One transaction ends the account: the balance, the keys, the teams, and who the customer is. What there may
 * be much of goes in batches after it (`erase-remains.ts`): the account stays locked meanwhile, and a lock that
 * is kept for seconds stops the calls of others in the same batch.
 */
import { sql } from 'kysely'
import { audited, type Actor } from '../audit-log/audited.ts'
import { API_KEY_CHANNEL } from '../customers/api-keys.ts'
import type { Database } from '../db/open.ts'
import { debit, findAccount, lockAccount } from '../ledger/entries.ts'
import type { NanoBrl } from '../lib/money.ts'

export type DeletionOutcome =
  | {
      readonly kind: 'deleted'
      readonly deletedAt: Date
      readonly waivedNanoBrl: NanoBrl
      readonly revokedKeyIds: readonly string[]
    }
  /** By an earlier deletion. */
  | { readonly kind: 'already_deleted' }
  | { readonly kind: 'customer_not_found' }
  /** Calls run, and money is held for them. */
  | { readonly kind: 'calls_running' }
  | { readonly kind: 'balance_remaining'; readonly balanceNanoBrl: NanoBrl }

/** What stands where a name was. */
const ERASED_NAME = 'Conta excluída'

/** A debt does not hinder it, and stays in the books. In the transaction that `db` is, or in its own. */
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
    if (balance > 0n && !waiveBalance) return { kind: 'balance_remaining', balanceNanoBrl: balance }
    const waived = balance > 0n ? balance : 0n
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
    await trx.deleteFrom('processor_customers').where('customer_id', '=', customerId).execute()
    await eraseCards(trx, customerId)
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
 * The account first, then the customer, as everywhere: no money is held for a new call from here on. Then
 * keys, teams and invitations, as whoever changes them does. Last the customer for good, so that nothing more
 * is written for them. A team that was made a moment ago may be locked out of order.
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

/** By the holds themselves: that of a free model's call is of nothing. */
async function areCallsRunning(trx: Database, customerId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from holds where customer_id = ${customerId}
    union all select 1 from accounts where customer_id = ${customerId} and held_nano_brl > 0
    limit 1`.execute(trx)
  return rows.length > 0
}

async function waive(trx: Database, customerId: string, amountNanoBrl: NanoBrl): Promise<void> {
  const outcome = await debit(trx, {
    customerId,
    amountNanoBrl,
    reason: 'account_closed',
    reference: customerId,
  })
  if (outcome.kind !== 'posted') throw new Error(`the balance was not taken out: ${outcome.kind}`)
}

/** Also those that the customer made for teams of others. Returns the ids of those that were active. */
async function endKeys(trx: Database, customerId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with mine as (
      select id, revoked_at is null as is_active from api_keys
      where customer_id = ${customerId} or created_by = ${customerId}
    ), ended as (
      -- The name and the addresses are the customer's own words.
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

/** Own teams are closed; to others the customer belongs no more. Addresses in invitations are erased with them. */
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

/** What was charged to them stays, with their last four digits. In this order: the one names the other. */
async function eraseCards(trx: Database, customerId: string): Promise<void> {
  await trx.deleteFrom('automatic_top_ups').where('customer_id', '=', customerId).execute()
  await trx.deleteFrom('payment_methods').where('customer_id', '=', customerId).execute()
  await trx.deleteFrom('card_attempts').where('customer_id', '=', customerId).execute()
}

/** What others had sent to this address; afterwards nobody knows it any more. */
async function eraseMailsTo(trx: Database, customerId: string): Promise<void> {
  await sql`
    delete from mails where email = (select lower(email) from customers where id = ${customerId})`.execute(
    trx,
  )
  await sql`
    delete from sandbox_mails
    where email = (select lower(email) from customers where id = ${customerId})`.execute(trx)
}

/** Whoever signed in with this address, with their sessions and passwords, and the links that are on their way. */
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

async function eraseCustomer(trx: Database, customerId: string): Promise<Date> {
  const { rows } = await sql<{ deleted_at: Date }>`
    update customers set name = ${ERASED_NAME}, email = null, referral_code = null, timezone = default,
      preferred_locale = default, weekly_digest_enabled = false, low_balance_email_enabled = default,
      deleted_at = now()
    where id = ${customerId} returning deleted_at`.execute(trx)
  const [row] = rows
  if (!row) throw new Error('the customer is gone')
  return row.deleted_at
}
