/**
 * READ THIS FIRST of the room: what a payment, as the processor tells it when asked, does to its top-up and
 * to the balance. Whoever learns of a payment (an event, the sweeper, the creation itself) comes through here,
 * as often and in whatever order they like: each step looks at what is stored, and changes it once.
 *
 * - Certain money credits OUR amount, once, whatever the status was: a Pix that is paid late is paid.
 * - Money that went back, and a charge-back, are debited once, also where the balance does not cover them.
 */
import { sql } from 'kysely'
import type { Database } from '../db/open.ts'
import { recordEvent } from '../events/record-event.ts'
import { credit, debit } from '../ledger/entries.ts'
import { decimalBrl } from '../lib/money.ts'
import type { Payment } from './processor.ts'
import { NANO_BRL_PER_CENTAVO, toTopUp, type TopUp, type TopUpStatus } from './top-ups.ts'

export type Applied =
  | { readonly kind: 'applied'; readonly topUp: TopUp }
  | { readonly kind: 'top_up_not_found' }
  /** Another sum than was asked for: nothing is credited, somebody has to look. */
  | { readonly kind: 'amount_differs'; readonly topUp: TopUp }

export function applyPayment(db: Database, topUpId: string, payment: Payment): Promise<Applied> {
  return db.transaction().execute(async (trx) => {
    const topUp = await lockTopUp(trx, topUpId)
    if (!topUp) return { kind: 'top_up_not_found' }
    if (payment.amountCents * NANO_BRL_PER_CENTAVO !== topUp.amountNanoBrl)
      return { kind: 'amount_differs', topUp }
    const isPaidNow = payment.hasBeenPaid && topUp.paidAt === null
    if (isPaidNow) await creditTopUp(trx, topUp)
    if (payment.hasBeenPaid) await takeBack(trx, topUp, payment)
    return {
      kind: 'applied',
      topUp: await moveTo(trx, topUp, statusAfter(topUp, payment), payment),
    }
  })
}

/** The account first, as everywhere. */
async function lockTopUp(trx: Database, topUpId: string): Promise<TopUp | undefined> {
  await sql`
    select 1 from accounts where customer_id = (select customer_id from top_ups where id = ${topUpId})
    for no key update`.execute(trx)
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
  await trx
    .updateTable('top_ups')
    .set({ paid_at: sql<Date>`now()` })
    .where('id', '=', id)
    .execute()
  await recordEvent(trx, {
    customerId,
    type: 'topup.paid',
    data: { id, method, amount_brl: decimalBrl(amountNanoBrl) },
  })
}

/** What is back with the payer beyond what was taken out of the balance before. */
async function takeBack(trx: Database, topUp: TopUp, payment: Payment): Promise<void> {
  const isChargeback = payment.status === 'chargeback'
  const back = isChargeback ? topUp.amountNanoBrl : payment.refundedCents * NANO_BRL_PER_CENTAVO
  const more = back - topUp.returnedNanoBrl
  if (more <= 0n) return
  const { id, customerId } = topUp
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
  await trx.updateTable('top_ups').set({ returned_nano_brl: back }).where('id', '=', id).execute()
  await recordEvent(trx, {
    customerId,
    type: isChargeback ? 'topup.chargeback' : 'topup.refunded',
    data: { id, method: topUp.method, amount_brl: decimalBrl(more) },
  })
}

/**
 * Only what is pending ends unpaid. What was paid stays so, but for a charge-back, and that stays too: word of
 * an earlier time may come after it. One that the payer lost is credited again by hand.
 */
function statusAfter(topUp: TopUp, payment: Payment): TopUpStatus {
  if (topUp.status === 'chargeback') return 'chargeback'
  if (payment.hasBeenPaid) return payment.status === 'chargeback' ? 'chargeback' : 'paid'
  if (topUp.status !== 'pending') return topUp.status
  if (payment.status === 'overdue') return 'expired'
  return payment.status === 'deleted' ? 'canceled' : 'pending'
}

async function moveTo(
  trx: Database,
  topUp: TopUp,
  status: TopUpStatus,
  payment: Payment,
): Promise<TopUp> {
  const row = await trx
    .updateTable('top_ups')
    .set({
      status,
      processor_payment_id: payment.id,
      page_url: payment.pageUrl ?? null,
      checked_at: sql<Date>`now()`,
    })
    .where('id', '=', topUp.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  if (status === 'expired' && topUp.status !== 'expired')
    await recordEvent(trx, {
      customerId: topUp.customerId,
      type: 'topup.expired',
      data: {
        id: topUp.id,
        method: topUp.method,
        amount_brl: decimalBrl(topUp.amountNanoBrl),
      },
    })
  return toTopUp(row)
}
