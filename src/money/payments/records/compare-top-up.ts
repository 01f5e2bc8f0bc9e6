/** Finds discrepancies between a top-up and the processor's payments for it, by amounts and not by the names of states. */
import type { NanoBrl } from '../../../platform/lib/money.ts'
import type { Payment } from '../processor.ts'
import { NANO_BRL_PER_CENTAVO } from '../top-ups.ts'

export interface PaymentFinding {
  readonly kind:
    | 'payment_without_top_up'
    | 'paid_there_only'
    | 'paid_here_only'
    | 'amount_differs'
    | 'returned_differs'
    | 'paid_twice'
  readonly oursNanoBrl: NanoBrl
  readonly theirsNanoBrl: NanoBrl
}

/** The state of a top-up in our books at one moment. */
export interface BookedTopUp {
  readonly id: string
  readonly status: string
  readonly processorPaymentId: string | null
  readonly amountNanoBrl: NanoBrl
  readonly isPaid: boolean
  /** Returned through the processor, without manual transfers: the processor has no record of those. */
  readonly returnedNanoBrl: NanoBrl
}

/**
 * Compares a top-up with the processor. `before` is our state before the processor was read, `after` our state once its
 * answer was applied. Money moves at the processor first, so a state of the processor between the two is no
 * discrepancy.
 */
export function compareTopUp(
  before: BookedTopUp,
  after: BookedTopUp,
  payments: readonly Payment[],
): PaymentFinding[] {
  const ours = before.amountNanoBrl
  // A payment that was paid and fully returned is closed, whatever its amount was.
  const open = payments.filter((payment) => !payment.hasBeenPaid || netOf(payment) > 0n)
  const other = open.find((payment) => amountOf(payment) !== ours && payment.status !== 'deleted')
  if (other) return [finding('amount_differs', ours, amountOf(other))]
  const paid = payments.filter(({ hasBeenPaid }) => hasBeenPaid)
  if (paid.length === 0) return before.isPaid ? [finding('paid_here_only', ours, 0n)] : []
  const kept = paid.reduce((sum, payment) => sum + netOf(payment), 0n)
  if (!after.isPaid) return kept > 0n ? [finding('paid_there_only', 0n, kept)] : []
  if (paid.length > 1) {
    const isSame = kept >= ours - before.returnedNanoBrl && kept <= ours - after.returnedNanoBrl
    return isSame ? [] : [finding('paid_twice', ours - after.returnedNanoBrl, kept)]
  }
  const returned = ours - kept
  const isSame = returned >= before.returnedNanoBrl && returned <= after.returnedNanoBrl
  return isSame ? [] : [finding('returned_differs', after.returnedNanoBrl, returned)]
}

export function amountOf({ amountCents }: Payment): NanoBrl {
  return amountCents * NANO_BRL_PER_CENTAVO
}

/** Returns the amount of a paid payment that has not been returned to the payer. */
export function netOf(payment: Payment): NanoBrl {
  const back = payment.status === 'chargeback' ? payment.amountCents : payment.refundedCents
  return (payment.amountCents - back) * NANO_BRL_PER_CENTAVO
}

function finding(
  kind: PaymentFinding['kind'],
  oursNanoBrl: NanoBrl,
  theirsNanoBrl: NanoBrl,
): PaymentFinding {
  return { kind, oursNanoBrl, theirsNanoBrl }
}
