import { sql } from 'kysely'
import { inTransaction, type Database } from '../../platform/db/open.ts'
import { recordEvent } from '../../platform/events/record-event.ts'
import { decimalBrl } from '../../platform/lib/money.ts'
import type { AskedAt } from './ask-at.ts'
import { recordAutomaticFailure } from './automatic-top-ups.ts'
import type { Payment } from './processor.ts'
import { toTopUp, type TopUp } from './top-ups.ts'

interface Fault {
  /** True if the issuer or the processor refused; false if the processor was not reached or gave no answer. */
  readonly isRefused: boolean
  /** Nothing fails if another node has asked the processor since, or has recorded what it heard. */
  readonly askedAt?: AskedAt
}

/** Within this time an issuer approves or refuses, or the processor puts the payment in review. */
const CARD_ANSWER_MS = 120_000

/**
 * Whether the card was refused. The processor reports no refusal by status: it leaves the payment open, so that the
 * payer can pay it in another way. Whether the issuer's time was over counts when the processor was asked: its answer
 * may be old when it is applied.
 */
export function isRefusedCard(topUp: TopUp, payment: Payment, askedAt: AskedAt): boolean {
  const isOpen = payment.status === 'pending' || payment.status === 'overdue'
  const isLate = Date.parse(askedAt) - topUp.createdAt.getTime() > CARD_ANSWER_MS
  return topUp.card !== null && isOpen && (topUp.wasInReview || isLate)
}

/** Fails a pending top-up, in the caller's transaction or in a new one. If it is paid after all, it is still credited. */
export function failTopUp(db: Database, id: string, fault: Fault): Promise<void> {
  return inTransaction(db, async (trx) => {
    const row = await trx
      .updateTable('top_ups')
      .set({ status: 'failed' })
      .where('id', '=', id)
      .where('paid_at', 'is', null)
      .where('status', '=', 'pending')
      .$if(fault.askedAt !== undefined, (query) =>
        query.where(sql<boolean>`checked_at <= ${fault.askedAt}::timestamptz`),
      )
      .returningAll()
      .executeTakeFirst()
    if (row) await recordFailure(trx, toTopUp(row), fault)
  })
}

/**
 * For cards only: the request for a Pix or a boleto has failed already, but a card may be refused later, when no
 * request of the customer waits for it.
 */
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
