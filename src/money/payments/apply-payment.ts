/**
 * Start here. Applies the state of a payment, as read from the processor's API, to its top-up and to the balance.
 * Every source (an event, the sweeper, the creation of the payment) calls this function, any number of times and
 * in any order: each step reads the stored state first, so its effect happens once.
 *
 * - A confirmed payment credits the amount of our top-up, once, whatever its status was: a late Pix counts as paid.
 * - Refunds that we requested end as the processor reports them (`refunds/settle-parts.ts`).
 * - Other money that was returned to the payer, and charge-backs, are debited once, even if the balance does not
 *   cover them. A charge-back, and a Pix that its bank returned, suspend the account.
 * - Money that arrives after its customer deleted the account is refunded to its payer.
 */
import { sql } from 'kysely'
import { SYSTEM } from '../../platform/audit-log/audited.ts'
import { isDeleted } from '../../customers/customers.ts'
import { suspendCustomer } from '../../customers/suspend-customer.ts'
import type { Database } from '../../platform/db/open.ts'
import { recordEvent } from '../../platform/events/record-event.ts'
import { credit, debit, findAccount, lockAccount } from '../ledger/entries.ts'
import { decimalBrl } from '../../platform/lib/money.ts'
import type { AskedAt } from './ask-at.ts'
import { recordAutomaticSuccess } from './automatic-top-ups.ts'
import { failTopUp, isRefusedCard } from './fail-top-up.ts'
import type { Payment } from './processor.ts'
import { requestRefund } from './refunds/request-refund.ts'
import { giveUpParts, settleParts, updateRefunding } from './refunds/settle-parts.ts'
import { NANO_BRL_PER_CENTAVO, toTopUp, type TopUp, type TopUpStatus } from './top-ups.ts'

export type Applied =
  | { readonly kind: 'applied'; readonly topUp: TopUp }
  | { readonly kind: 'top_up_not_found' }
  /** The amount is not the requested one: nothing is credited, and an operator must look. */
  | { readonly kind: 'amount_differs'; readonly topUp: TopUp }
  /** Another payment has paid the top-up, so this one changes nothing. The nightly comparison reports it. */
  | { readonly kind: 'other_payment'; readonly topUp: TopUp }

/**
 * Brings a top-up to the state of its payment. Without `askedAt`, a card that looks refused does not fail: the payment
 * may have been read at any time.
 */
export function applyPayment(
  db: Database,
  topUpId: string,
  payment: Payment,
  askedAt?: AskedAt,
): Promise<Applied> {
  return db.transaction().execute(async (trx) => {
    const topUp = await lockTopUp(trx, topUpId)
    if (!topUp) return { kind: 'top_up_not_found' }
    if (topUp.paidAt !== null && topUp.processorPaymentId !== payment.id)
      return { kind: 'other_payment', topUp }
    if (payment.amountCents * NANO_BRL_PER_CENTAVO !== topUp.amountNanoBrl)
      return { kind: 'amount_differs', topUp }
    const isPaidNow = payment.hasBeenPaid && topUp.paidAt === null
    if (isPaidNow) await creditTopUp(trx, topUp)
    if (payment.hasBeenPaid) {
      await settleParts(trx, topUp, payment)
      await takeBack(trx, (await lockTopUp(trx, topUpId)) as TopUp, payment)
    } else await moveUnpaid(trx, topUp, payment, askedAt)
    return { kind: 'applied', topUp: await storePaymentDetails(trx, topUp, payment) }
  })
}

/** Locks the account before the top-up, the order that every transaction follows. */
async function lockTopUp(trx: Database, topUpId: string): Promise<TopUp | undefined> {
  const known = await trx
    .selectFrom('top_ups')
    .select('customer_id')
    .where('id', '=', topUpId)
    .executeTakeFirst()
  if (!known) return undefined
  await lockAccount(trx, known.customer_id)
  const row = await trx
    .selectFrom('top_ups')
    .selectAll()
    .where('id', '=', topUpId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row && toTopUp(row)
}

async function creditTopUp(trx: Database, topUp: TopUp): Promise<void> {
  const { id, customerId, amountNanoBrl, method } = topUp
  const outcome = await credit(trx, { customerId, amountNanoBrl, reason: 'top_up', reference: id })
  if (outcome.kind !== 'posted') throw new Error(`top-up ${id} is not credited: ${outcome.kind}`)
  await sql`update top_ups set paid_at = now(), status = 'paid' where id = ${id}`.execute(trx)
  if (topUp.isAutomatic) await recordAutomaticSuccess(trx, customerId)
  if (await isDeleted(trx, customerId)) await returnToPayer(trx, topUp)
  await recordEvent(trx, {
    customerId,
    type: 'topup.paid',
    data: { id, method, amount_brl: decimalBrl(amountNanoBrl) },
  })
}

/** A debt is paid first; what no refund returns leaves the account when the transaction ends (`ledger/sql/entries.sql`). */
async function returnToPayer(trx: Database, { id, customerId }: TopUp): Promise<void> {
  await requestRefund(trx, SYSTEM, {
    customerId,
    amountNanoBrl: undefined,
    topUpId: id,
    reason: undefined,
    reviewAboveNanoBrl: 0n,
  })
}

/** Debits the amount that was returned to the payer and not debited before. */
async function takeBack(trx: Database, topUp: TopUp, payment: Payment): Promise<void> {
  const isChargeback = payment.status === 'chargeback'
  const back = isChargeback ? topUp.amountNanoBrl : payment.refundedCents * NANO_BRL_PER_CENTAVO
  const { id, customerId, method } = topUp
  const more = back - topUp.returnedNanoBrl - (await giveUpParts(trx, topUp, back))
  if (more > 0n) {
    const outcome = await debit(
      trx,
      {
        customerId,
        amountNanoBrl: more,
        reason: isChargeback ? 'chargeback' : 'top_up_returned',
        reference: `${id}:${back}`,
      },
      { mayOverdraw: true },
    )
    if (outcome.kind !== 'posted') throw new Error(`top-up ${id} is not debited: ${outcome.kind}`)
    await updateRefunding(trx, id, more)
    if (await isReturnedByBank(trx, topUp, payment))
      await suspendCustomer(trx, customerId, 'chargeback')
    await recordEvent(trx, {
      customerId,
      type: isChargeback ? 'topup.chargeback' : 'topup.refunded',
      data: { id, method, amount_brl: decimalBrl(more) },
    })
  }
  if (isChargeback && topUp.status !== 'chargeback') {
    await sql`update top_ups set status = 'chargeback' where id = ${id}`.execute(trx)
    await suspendCustomer(trx, customerId, 'chargeback')
  }
}

/**
 * Whether a Pix was returned by its bank, the charge-back of a Pix: nobody requested the refund at the processor, or
 * money was returned that is spent already.
 */
async function isReturnedByBank(
  trx: Database,
  { customerId, method }: TopUp,
  { status, refunds }: Payment,
): Promise<boolean> {
  if (method !== 'pix' || status !== 'refunded') return false
  return refunds.length === 0 || ((await findAccount(trx, customerId))?.balanceNanoBrl ?? 0n) < 0n
}

/**
 * Only a pending top-up can end unpaid. A paid one changes by refunds and charge-backs alone, and a charge-back is
 * final: an older state of the payment may arrive after it. If the payer loses the dispute, an operator credits the
 * amount by hand.
 */
async function moveUnpaid(
  trx: Database,
  topUp: TopUp,
  payment: Payment,
  askedAt: AskedAt | undefined,
): Promise<void> {
  if (topUp.status !== 'pending') return
  if (askedAt !== undefined && isRefusedCard(topUp, payment, askedAt))
    return failTopUp(trx, topUp.id, { isRefused: true, askedAt })
  const status: TopUpStatus | undefined = UNPAID_ENDS[payment.status]
  if (!status) return
  const { id, customerId, method, amountNanoBrl } = topUp
  await trx.updateTable('top_ups').set({ status }).where('id', '=', id).execute()
  if (status === 'expired')
    await recordEvent(trx, {
      customerId,
      type: 'topup.expired',
      data: { id, method, amount_brl: decimalBrl(amountNanoBrl) },
    })
}

const UNPAID_ENDS: Partial<Record<Payment['status'], TopUpStatus>> = {
  overdue: 'expired',
  deleted: 'canceled',
}

async function storePaymentDetails(trx: Database, topUp: TopUp, payment: Payment): Promise<TopUp> {
  const row = await trx
    .updateTable('top_ups')
    .set({
      processor_payment_id: payment.id,
      page_url: payment.pageUrl ?? null,
      was_in_review: topUp.wasInReview || payment.status === 'in_review',
      // The sweeper alone says when it asks about a paid one.
      checked_at: sql<Date>`case when paid_at is null then now() else checked_at end`,
    })
    .where('id', '=', topUp.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return toTopUp(row)
}
