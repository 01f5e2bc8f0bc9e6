import { inTransaction, type Database } from '../db/open.ts'
import { recordEvent } from '../events/record-event.ts'
import { decimalBrl } from '../lib/money.ts'
import { recordAutomaticFailure } from './automatic-top-ups.ts'
import type { Payment } from './processor.ts'
import { toTopUp, type TopUp } from './top-ups.ts'

interface Fault {
  /** The issuer or the processor said no; else nobody knows, or nobody was reached. */
  readonly isRefused: boolean
}

/** An issuer says yes or no within this time, or the processor says that it looks at it. */
const CARD_ANSWER_MS = 120_000

/**
 * Whether a card that is not paid never will be: the payments of refused ones stay with the processor, to be
 * paid in another way.
 */
export function isRefusedCard(topUp: TopUp, payment: Payment): boolean {
  const isOpen = payment.status === 'pending' || payment.status === 'overdue'
  const isLate = Date.now() - topUp.createdAt.getTime() > CARD_ANSWER_MS
  return topUp.card !== null && isOpen && (topUp.wasInReview || isLate)
}

/** In a transaction, or in one of its own. Ends one that nobody has paid. One that is paid later all the same is credited. */
export function failTopUp(db: Database, id: string, fault: Fault): Promise<void> {
  return inTransaction(db, async (trx) => {
    const row = await trx
      .updateTable('top_ups')
      .set({ status: 'failed' })
      .where('id', '=', id)
      .where('paid_at', 'is', null)
      .where('status', '=', 'pending')
      .returningAll()
      .executeTakeFirst()
    if (row) await recordFailure(trx, toTopUp(row), fault)
  })
}

/** Of codes to be paid whoever asked for them was told; a card may be refused later, or when nobody looks. */
async function recordFailure(trx: Database, topUp: TopUp, fault: Fault): Promise<void> {
  const { id, customerId, method, card, isAutomatic } = topUp
  if (!card) return
  await recordEvent(trx, {
    customerId,
    type: 'topup.failed',
    data: {
      id,
      method,
      amount_brl: decimalBrl(topUp.amountNanoBrl),
      last_four: card.lastFour,
      is_automatic: isAutomatic,
    },
  })
  if (isAutomatic && fault.isRefused) await recordAutomaticFailure(trx, customerId)
}
