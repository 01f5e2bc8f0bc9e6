/**
 * Rewards the referrer of a customer. The reward is due when
 * - the customer's first paid top-up is older than the withdrawal period, no part of it was returned to the payer, and
 *   none of the customer's top-ups was charged back, or returned whole without a refund of ours;
 * - the customer has spent the minimum of paid money; promotional credit does not count;
 * - the customer's CPF or CNPJ is not the referrer's, and was not rewarded before.
 * A condition that can no longer be met closes the referral. Rewards become due by the passing of time, so a background
 * job looks for them.
 */
import { sql } from 'kysely'
import { openTaxIdDigest, type TaxIdDigest } from '../../../customers/tax-id-digest.ts'
import { inTransaction, type Database } from '../../../platform/db/open.ts'
import type { SealingKeys } from '../../../platform/db/reseal.ts'
import { recordEvent } from '../../../platform/events/record-event.ts'
import { grantPromotion, paidSpending, takeBackPromotion } from '../../ledger/promotions.ts'
import type { Log } from '../../../platform/lib/log.ts'
import { decimalBrl, type NanoBrl } from '../../../platform/lib/money.ts'
import { WITHDRAWAL_DAYS } from '../refunds/refundable.ts'
import { lockAccount } from '../../ledger/entries.ts'

export interface ReferralProgramme {
  /** 0: there is no programme, and a referral that becomes due is closed. */
  readonly rewardNanoBrl: NanoBrl
  /** The paid money that the referred customer must have spent. */
  readonly spendingMinNanoBrl: NanoBrl
}

type ClosedReason =
  | 'no_reward'
  | 'account_deleted'
  | 'own_tax_id'
  | 'tax_id_rewarded'
  | 'top_up_returned'

/**
 * Pays the rewards that are due. Nodes may run it concurrently: each referral is rewarded once. Returns the number of
 * rewards.
 */
export async function rewardDueReferrals(
  db: Database,
  programme: ReferralProgramme,
  keys: SealingKeys,
  log: Log,
): Promise<number> {
  const due = await listDue(db, programme)
  if (due.length === 0) return 0
  const digestOf = await openTaxIdDigest(db, keys)
  let rewarded = 0
  for (const { customer_id: customerId, referrer_id: referrerId } of due) {
    try {
      const outcome = await inTransaction(db, (trx) =>
        rewardReferral(trx, { customerId, referrerId }, programme, digestOf),
      )
      if (outcome === 'rewarded') rewarded += 1
    } catch (error) {
      log.error('referral_not_rewarded', { customerId, error })
    }
  }
  return rewarded
}

const DUE_MAX = 500

/** Reads without a lock. A customer without a CPF or CNPJ is left out until it is known, so that others are not held up. */
async function listDue(
  db: Database,
  { spendingMinNanoBrl }: ReferralProgramme,
): Promise<{ customer_id: string; referrer_id: string }[]> {
  const { rows } = await sql<{ customer_id: string; referrer_id: string }>`
    select r.customer_id, r.referrer_id
    from referrals r join accounts a on a.customer_id = r.customer_id
    join customers c on c.id = r.customer_id
    left join profiles p on p.customer_id = r.customer_id
    cross join lateral (${firstTopUp}) first
    where r.closed_at is null and r.rewarded_at is null and a.charged_nano_brl >= ${spendingMinNanoBrl}
      and first.is_beyond_withdrawal and first.refunding_nano_brl = 0 and ${paidSpending} >= ${spendingMinNanoBrl}
      and (p.tax_id is not null or c.deleted_at is not null)
    order by r.created_at, r.customer_id limit ${DUE_MAX}`.execute(db)
  return rows
}

/** The first paid top-up of the referred customer, for a query with the referral as `r`. */
const firstTopUp = sql`
  select t.returned_nano_brl, t.refunding_nano_brl,
    t.paid_at <= now() - make_interval(days => ${WITHDRAWAL_DAYS}::int4) as is_beyond_withdrawal
  from top_ups t where t.customer_id = r.customer_id and t.paid_at is not null order by t.paid_at, t.id limit 1`

/** The top-up `t` of a query was charged back, or its whole amount was returned without a refund of ours: by its bank. */
export const wasReversed = sql`(t.status = 'chargeback' or t.status = 'refunded' and exists (
  select 1 from ledger_entries e
  where e.customer_id = t.customer_id and e.reason = 'top_up_returned' and split_part(e.reference, ':', 1) = t.id::text))`

async function rewardReferral(
  trx: Database,
  { customerId, referrerId }: { customerId: string; referrerId: string },
  programme: ReferralProgramme,
  digestOf: TaxIdDigest,
): Promise<'rewarded' | 'closed' | 'not_due'> {
  const referral = await lockDue(trx, customerId, referrerId, programme)
  if (!referral) return 'not_due'
  const reason = await findObstacle(trx, referral, programme)
  if (reason) return close(trx, customerId, reason)
  if (referral.tax_id === null) return 'not_due'
  const digest = digestOf(referral.tax_id)
  if (!(await markRewarded(trx, customerId, programme.rewardNanoBrl, digest)))
    return close(trx, customerId, 'tax_id_rewarded')
  const outcome = await grantPromotion(trx, {
    customerId: referrerId,
    amountNanoBrl: programme.rewardNanoBrl,
    reason: 'referral',
    reference: customerId,
  })
  if (outcome.kind !== 'posted')
    throw new Error(`the reward for ${customerId} is not posted: ${outcome.kind}`)
  await recordEvent(trx, {
    customerId: referrerId,
    type: 'referral.rewarded',
    data: { reward_brl: decimalBrl(programme.rewardNanoBrl) },
  })
  return 'rewarded'
}

interface DueReferral {
  readonly customer_id: string
  readonly referrer_id: string
  readonly tax_id: string | null
  readonly is_returned: boolean
  readonly is_deleted: boolean
}

/** Locks both accounts, in the order in which batches of calls lock them, so that no refund interferes. */
async function lockDue(
  trx: Database,
  customerId: string,
  referrerId: string,
  { spendingMinNanoBrl }: ReferralProgramme,
): Promise<DueReferral | undefined> {
  await sql`
    select 1 from accounts where customer_id in (${customerId}, ${referrerId})
    order by customer_id for no key update`.execute(trx)
  const { rows } = await sql<DueReferral>`
    select r.customer_id, r.referrer_id, p.tax_id,
      customer.deleted_at is not null or referrer.deleted_at is not null as is_deleted,
      first.returned_nano_brl > 0 or exists (
        select 1 from top_ups t where t.customer_id = r.customer_id and ${wasReversed}) as is_returned
    from referrals r join accounts a on a.customer_id = r.customer_id
    join customers customer on customer.id = r.customer_id
    join customers referrer on referrer.id = r.referrer_id
    left join profiles p on p.customer_id = r.customer_id
    cross join lateral (${firstTopUp}) first
    where r.customer_id = ${customerId} and r.closed_at is null and r.rewarded_at is null
      and first.is_beyond_withdrawal and first.refunding_nano_brl = 0 and ${paidSpending} >= ${spendingMinNanoBrl}
    for update of r`.execute(trx)
  return rows[0]
}

/** The first reason for which the reward can never become due; undefined if there is none. */
async function findObstacle(
  trx: Database,
  referral: DueReferral,
  { rewardNanoBrl }: ReferralProgramme,
): Promise<ClosedReason | undefined> {
  if (rewardNanoBrl === 0n) return 'no_reward'
  if (referral.is_deleted) return 'account_deleted'
  if (referral.is_returned) return 'top_up_returned'
  const { rows } = await sql<{ is_own: boolean; is_rewarded: boolean }>`
    select coalesce(bool_or(other.customer_id = ${referral.referrer_id}), false) as is_own,
      coalesce(bool_or(paid.rewarded_at is not null), false) as is_rewarded
    from profiles other left join referrals paid on paid.customer_id = other.customer_id
    where other.tax_id = ${referral.tax_id} and other.customer_id <> ${referral.customer_id}`.execute(
    trx,
  )
  if (rows[0]?.is_own) return 'own_tax_id'
  return rows[0]?.is_rewarded ? 'tax_id_rewarded' : undefined
}

/**
 * Returns false if the CPF or CNPJ was rewarded before, for whichever customer. The lock makes concurrent rewards of
 * one number wait for each other.
 */
async function markRewarded(
  trx: Database,
  customerId: string,
  rewardNanoBrl: NanoBrl,
  digest: Buffer,
): Promise<boolean> {
  await sql`select pg_advisory_xact_lock(${digest.readBigInt64BE()})`.execute(trx)
  const { numAffectedRows } = await sql`
    update referrals set rewarded_at = now(), reward_nano_brl = ${rewardNanoBrl}, rewarded_tax_id_digest = ${digest}
    where customer_id = ${customerId}
      and not exists (select 1 from referrals where rewarded_tax_id_digest = ${digest})`.execute(
    trx,
  )
  return numAffectedRows === 1n
}

async function close(trx: Database, customerId: string, reason: ClosedReason): Promise<'closed'> {
  await sql`
    update referrals set closed_at = now(), closed_reason = ${reason}
    where customer_id = ${customerId}`.execute(trx)
  return 'closed'
}

/**
 * Takes back rewards whose money was returned: a top-up that was paid before the reward was charged back, or returned whole
 * without a refund of ours, or the first top-up was fully refunded. The debit takes promotional credit as far as some is left. The part that the referrer has
 * spent is not recovered; it is the reward less the amount taken back.
 */
const AT_ONCE_MAX = 500

/**
 * Takes back rewards whose reason is gone. Nodes may run it concurrently. Returns the number of rewards of which it
 * took an amount back.
 */
export async function takeBackRewards(db: Database, log: Log): Promise<number> {
  const { rows } = await sql<{ customer_id: string; referrer_id: string }>`
    select r.customer_id, r.referrer_id from referrals r
    where r.closed_at is null and r.rewarded_at is not null and exists (
      select 1 from top_ups t
      where t.customer_id = r.customer_id and t.status in ('chargeback', 'refunded') and t.paid_at <= r.rewarded_at
        and (${wasReversed} or not exists (
          select 1 from top_ups earlier
          where earlier.customer_id = t.customer_id and (earlier.paid_at, earlier.id) < (t.paid_at, t.id))))
    order by r.rewarded_at, r.customer_id limit ${AT_ONCE_MAX}`.execute(db)
  let taken = 0
  for (const { customer_id: customerId, referrer_id: referrerId } of rows) {
    try {
      const takenNanoBrl = await inTransaction(db, (trx) => takeBack(trx, customerId, referrerId))
      if (takenNanoBrl > 0n) taken += 1
    } catch (error) {
      log.error('reward_not_taken_back', { customerId, error })
    }
  }
  return taken
}

/**
 * Leaves held money alone. The referral stays open for the next run until the reward is fully taken back or no
 * promotional credit is left.
 */
async function takeBack(trx: Database, customerId: string, referrerId: string): Promise<NanoBrl> {
  await lockAccount(trx, referrerId)
  const { rows } = await sql<{ reward_nano_brl: bigint; taken_back_nano_brl: bigint }>`
    select reward_nano_brl, taken_back_nano_brl from referrals
    where customer_id = ${customerId} and closed_at is null and rewarded_at is not null for update`.execute(
    trx,
  )
  const [referral] = rows
  if (!referral) return 0n
  const owed = referral.reward_nano_brl - referral.taken_back_nano_brl
  const { takenNanoBrl, leftNanoBrl } = await takeBackPromotion(trx, {
    customerId: referrerId,
    amountNanoBrl: owed,
    reference: `${customerId}:${referral.taken_back_nano_brl}`,
  })
  const isOver = takenNanoBrl === owed || leftNanoBrl === 0n
  await sql`
    update referrals set taken_back_nano_brl = taken_back_nano_brl + ${takenNanoBrl},
      closed_at = case when ${isOver} then now() end, closed_reason = case when ${isOver} then 'taken_back' end
    where customer_id = ${customerId}`.execute(trx)
  return takenNanoBrl
}
