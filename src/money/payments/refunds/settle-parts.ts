/**
 * Ends the parts of a refund: the money is either returned to the payer or credited to the balance again. The caller
 * has locked the account and the top-up, so each part ends once.
 */
import { sql } from 'kysely'
import { isDeleted } from '../../../customers/customers.ts'
import type { Database } from '../../../platform/db/open.ts'
import { recordEvent } from '../../../platform/events/record-event.ts'
import { credit } from '../../ledger/entries.ts'
import { decimalBrl, type NanoBrl } from '../../../platform/lib/money.ts'
import type { Payment, PaymentRefund } from '../processor.ts'
import { NANO_BRL_PER_CENTAVO, type TopUp } from '../top-ups.ts'
import { findRefund, returnedOf, type RefundPartRow } from './refunds.ts'

export type OpenPart = RefundPartRow & { readonly customer_id: string }

/** Returns the description that the processor stores with a refund, so that it can be found after a lost answer. */
export function refundDescription(refundId: string): string {
  return `Reembolso ${refundId}`
}

/** Returns the processor's own record of a part, if it has one. */
export function findPartAt(
  payment: Payment,
  part: Pick<RefundPartRow, 'refund_id'>,
): PaymentRefund | undefined {
  const description = refundDescription(part.refund_id)
  return payment.refunds.find((refund) => refund.description === description)
}

/**
 * Ends the parts of this top-up that the processor has ended. If it returned less than we asked for, the rest is credited
 * to the balance again; if it returned more, the caller debits the difference.
 */
export async function settleParts(trx: Database, topUp: TopUp, payment: Payment): Promise<void> {
  for (const part of await listOpenParts(trx, topUp.id)) {
    const there = findPartAt(payment, part)
    // A fully refunded payment may list no refunds.
    const isDone =
      there?.status === 'done' ||
      (part.status === 'sent' && payment.status === 'refunded' && payment.refunds.length === 0)
    const returned = there ? there.amountCents * NANO_BRL_PER_CENTAVO : part.amount_nano_brl
    if (isDone)
      await (returned < part.amount_nano_brl ? takePart : completePart)(trx, part, returned)
    else if (there?.status === 'canceled' && !part.is_manual)
      await failPart(trx, part, 'canceled by the processor')
  }
}

/**
 * Ends the open parts that a top-up no longer covers after the amount `back` was returned to the payer by a charge-back
 * or by a refund that we did not request. The money set aside for them pays for the return, and the remainder is
 * credited to the balance again. Returns the amount that they paid.
 */
export async function giveUpParts(
  trx: Database,
  { id, amountNanoBrl, returnedNanoBrl, refundingNanoBrl }: TopUp,
  back: NanoBrl,
): Promise<NanoBrl> {
  let paid = 0n
  let open = refundingNanoBrl
  for (const part of await listOpenParts(trx, id)) {
    const due = back - returnedNanoBrl - paid
    if (due <= 0n || back + open <= amountNanoBrl) break
    const taken = part.amount_nano_brl < due ? part.amount_nano_brl : due
    await takePart(trx, part, taken)
    paid += taken
    open -= part.amount_nano_brl
  }
  return paid
}

/** Only this amount of the part was returned to the payer: credits the rest to the balance again. */
async function takePart(trx: Database, part: OpenPart, taken: NanoBrl): Promise<void> {
  if (taken < part.amount_nano_brl) await putBack(trx, part, part.amount_nano_brl - taken)
  await endPart(trx, part, 'taken', taken)
}

/** Ends a part whose money was returned to the payer. */
export function completePart(trx: Database, part: OpenPart): Promise<void> {
  return endPart(trx, part, 'done', part.amount_nano_brl)
}

/**
 * Ends a part whose money could not be returned, and credits it to the balance again. The balance of a deleted customer
 * is out of reach, so an operator has to transfer the money, or to say that it cannot be.
 */
export async function failPart(
  trx: Database,
  part: OpenPart,
  error: string,
  reason?: 'refund_rejected',
): Promise<void> {
  if (!part.is_manual && !reason && (await isDeleted(trx, part.customer_id))) {
    await sql`
      update refund_parts set is_manual = true, status = 'waiting', error = ${error}
      where refund_id = ${part.refund_id} and top_up_id = ${part.top_up_id}`.execute(trx)
    return
  }
  await putBack(trx, part, part.amount_nano_brl, reason)
  await endPart(trx, part, 'failed', 0n, error)
}

async function putBack(
  trx: Database,
  { customer_id: customerId, refund_id: refundId, top_up_id: topUpId }: OpenPart,
  amountNanoBrl: NanoBrl,
  reason: 'refund_failed' | 'refund_rejected' = 'refund_failed',
): Promise<void> {
  const reference = `${refundId}:${topUpId}`
  const outcome = await credit(trx, { customerId, amountNanoBrl, reason, reference })
  if (outcome.kind !== 'posted')
    throw new Error(`a part of refund ${refundId} is not put back: ${outcome.kind}`)
}

async function endPart(
  trx: Database,
  part: OpenPart,
  status: 'done' | 'failed' | 'taken',
  returned: NanoBrl,
  error: string | null = null,
): Promise<void> {
  await trx
    .updateTable('refund_parts')
    .set({ status, error })
    .where('refund_id', '=', part.refund_id)
    .where('top_up_id', '=', part.top_up_id)
    .execute()
  await updateRefunding(trx, part.top_up_id, returned)
  await endRefund(trx, part.refund_id)
}

/** Sets the top-up's amount in refund to the sum of its open parts, adds `returnedMore`, and updates its status. */
export async function updateRefunding(
  trx: Database,
  topUpId: string,
  returnedMore: NanoBrl = 0n,
): Promise<void> {
  await sql`
    update top_ups t set refunding_nano_brl = n.refunding, returned_nano_brl = n.returned,
      status = case
        when t.status = 'chargeback' then 'chargeback'
        when n.refunding > 0 then 'refund_pending'
        when n.returned = t.amount_nano_brl then 'refunded'
        when n.returned > 0 then 'partially_refunded'
        else 'paid' end::top_up_status
    from (
      select u.returned_nano_brl + ${returnedMore}::int8 as returned, coalesce((
        select sum(p.amount_nano_brl) from refund_parts p
        where p.top_up_id = u.id and p.status in ('waiting', 'sent')), 0)::int8 as refunding
      from top_ups u where u.id = ${topUpId}
    ) n
    where t.id = ${topUpId}`.execute(trx)
}

/** Ends the refund with its last part, and notifies the customer once. */
async function endRefund(trx: Database, refundId: string): Promise<void> {
  const refund = await findRefund(trx, refundId)
  if (!refund || refund.parts.some(({ status }) => status === 'waiting' || status === 'sent'))
    return
  const returned = returnedOf(refund)
  const end = refund.status === 'rejected' ? 'rejected' : returned > 0n ? 'done' : 'failed'
  await trx
    .updateTable('refunds')
    .set({ status: end, ended_at: sql<Date>`now()` })
    .where('id', '=', refundId)
    .execute()
  // A charge-back or an external refund has its own event.
  if (refund.parts.every(({ status }) => status === 'taken')) return
  await recordEvent(trx, {
    customerId: refund.customer_id,
    type: EVENT_OF[end],
    data: {
      id: refundId,
      amount_brl: decimalBrl(end === 'done' ? returned : refund.amount_nano_brl),
      ...(refund.decision_note === null ? {} : { reason: refund.decision_note }),
    },
  })
}

const EVENT_OF = {
  done: 'refund.completed',
  failed: 'refund.failed',
  rejected: 'refund.rejected',
} as const

/** Locks and lists the open parts of a top-up, in the order of their refunds. */
async function listOpenParts(trx: Database, topUpId: string): Promise<OpenPart[]> {
  const { rows } = await sql<OpenPart>`
    select p.*, r.customer_id from refund_parts p join refunds r on r.id = p.refund_id
    where p.top_up_id = ${topUpId} and p.status in ('waiting', 'sent')
    order by p.refund_id for no key update of p`.execute(trx)
  return rows
}
