/** Requests a refund. One transaction checks that the amount is unspent, debits the balance and stores the refund. */
import { sql } from 'kysely'
import { audited, type Actor } from '../../../platform/audit-log/audited.ts'
import type { Database } from '../../../platform/db/open.ts'
import { recordEvent } from '../../../platform/events/record-event.ts'
import { debit, lockAccount } from '../../ledger/entries.ts'
import { createId } from '../../../platform/lib/ids.ts'
import { decimalBrl, NANO_PER_BRL, type NanoBrl } from '../../../platform/lib/money.ts'
import { findRefund, type Refund } from './refunds.ts'
import { updateRefunding } from './settle-parts.ts'
import { findRefundable, sumUnspent, type RefundableTopUp } from './refundable.ts'

/** The least amount of a refund, by the specification; a withdrawal has no least amount. */
export const REFUND_MIN_NANO_BRL = 5n * NANO_PER_BRL

export interface RefundInput {
  readonly customerId: string
  /** Whole centavos; undefined: the whole refundable amount. */
  readonly amountNanoBrl: NanoBrl | undefined
  /** Refund this top-up only. */
  readonly topUpId: string | undefined
  readonly reason: string | undefined
  /**
   * If this and what the customer got back without a review in 24 hours is more, an operator decides. A withdrawal is a
   * legal right and does not count.
   */
  readonly reviewAboveNanoBrl: NanoBrl
}

export type RequestedRefund =
  | { readonly kind: 'requested'; readonly refund: Refund }
  /** The amount exceeds the refundable amount, which may be zero. */
  | { readonly kind: 'not_refundable'; readonly refundableNanoBrl: NanoBrl }
  | { readonly kind: 'below_minimum' }
  /** Only all that is left can be withdrawn now. */
  | { readonly kind: 'too_many_withdrawals' }

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
  const mayWithdraw = refundable.some((topUp) => topUp.isWithdrawable)
  if (input.amountNanoBrl !== undefined && amount < REFUND_MIN_NANO_BRL && !mayWithdraw)
    return { kind: 'below_minimum' }
  if (amount === 0n || amount > refundableNanoBrl)
    return { kind: 'not_refundable', refundableNanoBrl }
  const parts = newestFirst(refundable, amount)
  const isWithdrawal = parts.every((part) => part.isWithdrawable)
  if (!isWithdrawal && amount < REFUND_MIN_NANO_BRL) return { kind: 'below_minimum' }

  const recent = await readRecent(trx, customerId)
  const isOften = isWithdrawal && recent.has_withdrawn_often
  if (isOften && amount < refundableNanoBrl) return { kind: 'too_many_withdrawals' }
  const needsReview =
    isOften || (!isWithdrawal && recent.requested_nano_brl + amount > input.reviewAboveNanoBrl)
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

/**
 * The most withdrawals of one customer in a day. Each withdrawn top-up costs the operator a fee, so that paying in and
 * out without end costs somebody else.
 */
export const WITHDRAWALS_A_DAY = 5
export const WITHDRAWALS_A_MONTH = 15

/** Refunds that were rejected or failed do not count, and not towards the sum those that an operator looked at. */
async function readRecent(db: Database, customerId: string): Promise<RecentRefunds> {
  const { rows } = await sql<RecentRefunds>`
    select coalesce(sum(amount_nano_brl) filter (where kind = 'request' and is_unreviewed and is_today), 0)::int8 as requested_nano_brl,
      count(*) filter (where kind = 'withdrawal' and is_today) >= ${WITHDRAWALS_A_DAY}
        or count(*) filter (where kind = 'withdrawal') >= ${WITHDRAWALS_A_MONTH} as has_withdrawn_often
    from (
      select kind, amount_nano_brl, decided_at = created_at as is_unreviewed, created_at > now() - interval '24 hours' as is_today from refunds
      where customer_id = ${customerId} and status not in ('rejected', 'failed')
        and created_at > now() - interval '30 days') recent`.execute(db)
  return rows[0] as RecentRefunds
}

interface RecentRefunds {
  readonly requested_nano_brl: NanoBrl
  readonly has_withdrawn_often: boolean
}

/**
 * Whether a customer reached a limit of withdrawals. No top-up is taken then, and a further withdrawal of what is left
 * waits for an operator: the right of withdrawal is never refused.
 */
export async function hasWithdrawnOften(db: Database, customerId: string): Promise<boolean> {
  return (await readRecent(db, customerId)).has_withdrawn_often
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
