import { markRewarded } from '../customers/referrals.ts'
import type { EventHandler } from '../events/dispatch-events.ts'
import { recordEvent } from '../events/record-event.ts'
import { grantPromotion } from '../ledger/promotions.ts'
import { decimalBrl, NANO_PER_BRL } from '../lib/money.ts'

/** Pays whoever brought a customer, at the first top-up of the customer that is paid: once. */
export function createReferralReward(rewardBrl: number): EventHandler {
  const amountNanoBrl = BigInt(rewardBrl) * NANO_PER_BRL
  return async (trx, { type, customerId }) => {
    if (type !== 'topup.paid' || amountNanoBrl === 0n) return
    const referrerId = await markRewarded(trx, customerId, amountNanoBrl)
    if (referrerId === undefined) return
    const outcome = await grantPromotion(trx, {
      customerId: referrerId,
      amountNanoBrl,
      reason: 'referral',
      reference: customerId,
    })
    if (outcome.kind !== 'posted')
      throw new Error(`the reward for ${customerId} is not posted: ${outcome.kind}`)
    await recordEvent(trx, {
      customerId: referrerId,
      type: 'referral.rewarded',
      data: { reward_brl: decimalBrl(amountNanoBrl) },
    })
  }
}
