/** Reads one subject again on both sides, and repairs a top-up that had only missed the processor's news. */
import { sql } from 'kysely'
import type { Database } from '../../../platform/db/open.ts'
import { isUuid } from '../../../platform/lib/ids.ts'
import type { Log } from '../../../platform/lib/log.ts'
import { askAt } from '../ask-at.ts'
import { recordPayment } from '../record-payment.ts'
import type { Payment, Processor, Unavailable } from '../processor.ts'
import {
  amountOf,
  compareTopUp,
  netOf,
  type BookedTopUp,
  type PaymentFinding,
} from './compare-top-up.ts'

/** What a check is about: one of our top-ups, or a payment without a top-up. */
export type Subject =
  | { readonly kind: 'top_up'; readonly id: string }
  | { readonly kind: 'payment'; readonly id: string }

export interface CheckedSubject {
  readonly subject: Subject
  readonly paymentId: string | null
  readonly findings: readonly PaymentFinding[]
  readonly wasRepaired: boolean
}

/** Thrown when the processor gave no reliable answer, so that no conclusion is possible. */
export class ProcessorUnavailable extends Error {
  constructor({ detail }: Unavailable) {
    super(detail)
    this.name = 'ProcessorUnavailable'
  }
}

export interface CheckDeps {
  readonly db: Database
  readonly processor: Processor
  readonly log: Log
}

export function checkSubject(deps: CheckDeps, subject: Subject): Promise<CheckedSubject> {
  return subject.kind === 'top_up' ? checkTopUp(deps, subject) : checkPayment(deps, subject)
}

async function checkTopUp(
  { db, processor, log }: CheckDeps,
  subject: Subject,
): Promise<CheckedSubject> {
  const before = await findBooked(db, subject.id)
  if (!before) return { subject, paymentId: null, findings: [], wasRepaired: false }
  const { outcome: payments, askedAt } = await askAt(db, () => findPaymentsOf(processor, before))
  const main = mainOf(before, payments)
  if (main && compareTopUp(before, before, payments).length > 0)
    await recordPayment(db, processor, before.id, main, askedAt).catch((error: unknown) =>
      // The discrepancy stays open, and the check goes on with the other subjects.
      log.error('top_up_not_repaired', { topUpId: before.id, error }),
    )
  const after = (await findBooked(db, subject.id)) ?? before
  return {
    subject,
    paymentId: main?.id ?? before.processorPaymentId,
    findings: compareTopUp(before, after, payments),
    wasRepaired:
      after.isPaid !== before.isPaid ||
      after.returnedNanoBrl !== before.returnedNanoBrl ||
      after.status !== before.status,
  }
}

/** All payments with our reference, and the one whose id we know if it has no reference. */
async function findPaymentsOf(processor: Processor, topUp: BookedTopUp): Promise<Payment[]> {
  const found = await processor.findPaymentByReference(topUp.id)
  if (found.kind === 'unavailable') throw new ProcessorUnavailable(found)
  const payments = found.kind === 'payment' ? [found.payment, ...found.others] : []
  const { processorPaymentId: knownId } = topUp
  if (knownId === null || payments.some(({ id }) => id === knownId)) return payments
  const known = await processor.findPayment(knownId)
  if (known.kind === 'unavailable') throw new ProcessorUnavailable(known)
  return known.kind === 'payment' ? [...payments, known.payment] : payments
}

/**
 * The payment that decides the top-up's state. None if two payments have paid the top-up: only one of them was credited,
 * so a refund of the other must not be debited, and a person has to decide which is which.
 */
function mainOf(topUp: BookedTopUp, payments: readonly Payment[]): Payment | undefined {
  const known = payments.find(({ id }) => id === topUp.processorPaymentId)
  if (topUp.isPaid && payments.filter(({ hasBeenPaid }) => hasBeenPaid).length > 1) return undefined
  if (topUp.isPaid || known?.hasBeenPaid) return known
  return payments.find(({ hasBeenPaid }) => hasBeenPaid) ?? known
}

async function checkPayment(
  { db, processor }: CheckDeps,
  subject: Subject,
): Promise<CheckedSubject> {
  const found = await processor.findPayment(subject.id)
  if (found.kind === 'unavailable') throw new ProcessorUnavailable(found)
  const isOurs = found.kind === 'payment' && (await isTopUp(db, found.payment.ourId))
  const findings =
    found.kind === 'payment' && !isOurs && isUnmatched(found.payment)
      ? [unmatchedFinding(found.payment)]
      : []
  return { subject, paymentId: subject.id, findings, wasRepaired: false }
}

/**
 * Whether a payment lacks a top-up that it should have: a paid one without a top-up, or an unpaid one whose reference
 * looks like ours. Unpaid bills that the operator issues with the same account for other purposes do not count.
 */
export function isUnmatched(payment: Payment): boolean {
  if (payment.hasBeenPaid) return netOf(payment) > 0n
  return payment.status !== 'deleted' && payment.ourId !== undefined && isUuid(payment.ourId)
}

function unmatchedFinding(payment: Payment): PaymentFinding {
  const theirsNanoBrl = payment.hasBeenPaid ? netOf(payment) : amountOf(payment)
  return { kind: 'payment_without_top_up', oursNanoBrl: 0n, theirsNanoBrl }
}

async function isTopUp(db: Database, id: string | undefined): Promise<boolean> {
  return id !== undefined && isUuid(id) && (await findBooked(db, id)) !== undefined
}

async function findBooked(db: Database, id: string): Promise<BookedTopUp | undefined> {
  return (await listBooked(db, [id]))[0]
}

export async function listBooked(db: Database, ids: readonly string[]): Promise<BookedTopUp[]> {
  const { rows } = await sql<{
    id: string
    status: string
    processor_payment_id: string | null
    amount_nano_brl: bigint
    is_paid: boolean
    returned_nano_brl: bigint
  }>`
    select t.id, t.status, t.processor_payment_id, t.amount_nano_brl, t.paid_at is not null as is_paid,
      t.returned_nano_brl - coalesce((
        select sum(p.amount_nano_brl)::int8 from refund_parts p
        where p.top_up_id = t.id and p.is_manual and p.status = 'done'), 0) as returned_nano_brl
    from top_ups t where t.id = any(${ids}::uuid[])`.execute(db)
  return rows.map((row) => ({
    id: row.id,
    status: row.status,
    processorPaymentId: row.processor_payment_id,
    amountNanoBrl: row.amount_nano_brl,
    isPaid: row.is_paid,
    returnedNanoBrl: row.returned_nano_brl,
  }))
}
