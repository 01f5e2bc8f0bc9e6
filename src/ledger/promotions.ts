/**
 * Credit that nobody paid for: it is spent first and never refunded. The account holds what was left of it
 * at a known sum of charges, so that calls need not write anything about it.
 */
import { sql } from 'kysely'
import { inTransaction, type Database } from '../db/open.ts'
import type { NanoBrl } from '../lib/money.ts'
import { credit, lockAccount, type EntryInput, type EntryOutcome } from './entries.ts'

/** The reasons of entries that are promotional. */
export const PROMOTIONAL_REASONS = ['promotion', 'referral'] as const

export interface PromotionInput extends EntryInput {
  readonly reason: (typeof PROMOTIONAL_REASONS)[number]
}

/** A repeat changes nothing, as with every credit. */
export function grantPromotion(db: Database, input: PromotionInput): Promise<EntryOutcome> {
  return inTransaction(db, async (trx) => {
    await lockAccount(trx, input.customerId)
    const left = await findPromotionalLeft(trx, input.customerId)
    const outcome = await credit(trx, input)
    if (outcome.kind === 'posted') {
      // Of a debt, the credit pays first: what is left of it is never more than the balance.
      await sql`
        update accounts set promotional_at_charged_nano_brl = charged_nano_brl,
          promotional_nano_brl = least(${left + input.amountNanoBrl}::int8,
            greatest(0, credited_nano_brl - debited_nano_brl - charged_nano_brl))
        where customer_id = ${input.customerId}`.execute(trx)
    }
    return outcome
  })
}

/** What of the balance is promotional. True for as long as the account is locked. */
export async function findPromotionalLeft(db: Database, customerId: string): Promise<NanoBrl> {
  const { rows } = await sql<{ left: bigint }>`
    select greatest(0, least(
      promotional_nano_brl - (charged_nano_brl - promotional_at_charged_nano_brl),
      credited_nano_brl - debited_nano_brl - charged_nano_brl))::int8 as left
    from accounts where customer_id = ${customerId}`.execute(db)
  return rows[0]?.left ?? 0n
}
