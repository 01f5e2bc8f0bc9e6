/** Requests a refund. One transaction checks that the amount is unspent, debits the balance and stores the refund. */
import { sql } from 'kysely'
import { audited, type Actor } from '../../audit-log/audited.ts'
import type { Database } from '../../db/open.ts'
import { recordEvent } from '../../events/record-event.ts'
import { debit, lockAccount } from '../../ledger/entries.ts'
import { createId } from '../../lib/ids.ts'
import { decimalBrl, NANO_PER_BRL, type NanoBrl } from '../../lib/money.ts'
import { findRefund, type Refund } from './refunds.ts'
import { updateRefunding } from './settle-parts.ts'
import { findRefundable, sumUnspent, type RefundableTopUp } from './refundable.ts'

/** The minimum of the specification; a withdrawal has none. */
export const REFUND_MIN_NANO_BRL = 5n * NANO_PER_BRL

export interface RefundInput {
  readonly customerId: string
  /** Whole centavos; undefined: the whole refundable amount. */
  readonly amountNanoBrl: NanoBrl | undefined
  /** Refund this top-up only. */
  readonly topUpId: string | undefined
  readonly reason: string | undefined
  /** Above this amount an operator decides. A withdrawal is a legal right and needs no review. */
  readonly reviewAboveNanoBrl: NanoBrl
}

export type RequestedRefund =
  | { readonly kind: 'requested'; readonly refund: Refund }
  /** The amount exceeds the refundable amount, which may be zero. */
  | { readonly kind: 'not_refundable'; readonly refundableNanoBrl: NanoBrl }
  | { readonly kind: 'below_minimum' }

export function requestRefund(
  db: Database,
  actor: Actor,
  input: RefundInput,
): Promise<RequestedRefund> {
  return audited(db, actor, async (trx, record) => {
    const requested = await insertRefund(trx, input)
    if (requested.kind === 'requested') {
      const { customerId } = input
      await record({ action: 'refund.requested', customerId, subjectId: requested.refund.id })
    }
    return requested
  })
}

async function insertRefund(trx: Database, input: RefundInput): Promise<RequestedRefund> {
  const { customerId, topUpId } = input
  await lockAccount(trx, customerId)
  const refundable = (await findRefundable(trx, customerId)).filter(
    (topUp) => topUpId === undefined || topUp.topUpId === topUpId,
  )
  const refundableNanoBrl = sumUnspent(refundable)
  const amount = input.amountNanoBrl ?? refundableNanoBrl
  if (amount === 0n || amount > refundableNanoBrl)
    return { kind: 'not_refundable', refundableNanoBrl }
  const parts = newestFirst(refundable, amount)
  const isWithdrawal = parts.every((part) => part.isWithdrawable)
  if (!isWithdrawal && amount < REFUND_MIN_NANO_BRL) return { kind: 'below_minimum' }

  const needsReview = !isWithdrawal && amount > input.reviewAboveNanoBrl
  const refundId = createId()
  await trx
    .insertInto('refunds')
    .values({
      id: refundId,
      customer_id: customerId,
      amount_nano_brl: amount,
      kind: isWithdrawal ? 'withdrawal' : 'request',
      status: needsReview ? 'requested' : 'approved',
      reason: input.reason ?? null,
      decided_at: needsReview ? null : sql<Date>`now()`,
    })
    .execute()
  for (const part of parts) await setAside(trx, refundId, part)
  const outcome = await debit(trx, {
    customerId,
    amountNanoBrl: amount,
    reason: 'refund',
    reference: refundId,
  })
  if (outcome.kind !== 'posted')
    throw new Error(`refund ${refundId} is not debited: ${outcome.kind}`)
  await recordEvent(trx, {
    customerId,
    type: 'refund.requested',
    data: { id: refundId, amount_brl: decimalBrl(amount), withdrawal: isWithdrawal },
  })
  return { kind: 'requested', refund: (await findRefund(trx, refundId)) as Refund }
}

function newestFirst(topUps: readonly RefundableTopUp[], amount: NanoBrl): RefundableTopUp[] {
  const parts: RefundableTopUp[] = []
  let left = amount
  for (const topUp of topUps) {
    if (left === 0n) break
    const unspentNanoBrl = topUp.unspentNanoBrl < left ? topUp.unspentNanoBrl : left
    left -= unspentNanoBrl
    parts.push({ ...topUp, unspentNanoBrl })
  }
  return parts
}

async function setAside(trx: Database, refundId: string, part: RefundableTopUp): Promise<void> {
  await trx
    .insertInto('refund_parts')
    .values({
      refund_id: refundId,
      top_up_id: part.topUpId,
      amount_nano_brl: part.unspentNanoBrl,
      is_manual: part.isManual,
    })
    .execute()
  await updateRefunding(trx, part.topUpId)
}
