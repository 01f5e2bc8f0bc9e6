/**
 * Takes back rewards whose money was returned: a top-up that was paid before the reward was charged back, or returned whole
 * without a refund of ours, or the first top-up was fully refunded. The debit takes promotional credit as far as some is left. The part that the referrer has
 * spent is not recovered; it is the reward less the amount taken back.
 */
import { sql } from 'kysely'
import { inTransaction, type Database } from '../../../platform/db/open.ts'
import { lockAccount } from '../../ledger/entries.ts'
import { takeBackPromotion } from '../../ledger/promotions.ts'
import type { Log } from '../../../platform/lib/log.ts'
import type { NanoBrl } from '../../../platform/lib/money.ts'
import { wasReversed } from './reward-due-referrals.ts'

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
