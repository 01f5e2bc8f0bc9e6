import { isObject } from '../../../platform/lib/is-object.ts'
import { readCents } from '../../../platform/lib/exact-json.ts'
import type { Payment, PaymentMethod, PaymentRefund, PaymentStatus } from '../processor.ts'

const METHODS = new Map<string | undefined, PaymentMethod>([
  ['PIX', 'pix'],
  ['CREDIT_CARD', 'card'],
  ['BOLETO', 'boleto'],
])

interface StatusReading {
  readonly status: PaymentStatus
  readonly hasBeenPaid: boolean
}

const STATUSES = new Map<string, StatusReading>([
  ['PENDING', { status: 'pending', hasBeenPaid: false }],
  ['AUTHORIZED', { status: 'pending', hasBeenPaid: false }],
  ['AWAITING_RISK_ANALYSIS', { status: 'in_review', hasBeenPaid: false }],
  ['CONFIRMED', { status: 'confirmed', hasBeenPaid: true }],
  ['RECEIVED', { status: 'received', hasBeenPaid: true }],
  // The operator confirmed by hand that the money arrived.
  ['RECEIVED_IN_CASH', { status: 'received', hasBeenPaid: true }],
  ['DUNNING_RECEIVED', { status: 'received', hasBeenPaid: true }],
  ['OVERDUE', { status: 'overdue', hasBeenPaid: false }],
  ['DUNNING_REQUESTED', { status: 'overdue', hasBeenPaid: false }],
  ['REFUND_REQUESTED', { status: 'refund_in_progress', hasBeenPaid: true }],
  ['REFUND_IN_PROGRESS', { status: 'refund_in_progress', hasBeenPaid: true }],
  ['REFUNDED', { status: 'refunded', hasBeenPaid: true }],
  ['PARTIALLY_REFUNDED', { status: 'partially_refunded', hasBeenPaid: true }],
  ['CHARGEBACK_REQUESTED', { status: 'chargeback', hasBeenPaid: true }],
  ['CHARGEBACK_DISPUTE', { status: 'chargeback', hasBeenPaid: true }],
  // The dispute is won, but the money is back only when the status changes.
  ['AWAITING_CHARGEBACK_REVERSAL', { status: 'chargeback', hasBeenPaid: true }],
])

const REFUND_STATUSES = new Map<string | undefined, PaymentRefund['status']>([
  ['PENDING', 'pending'],
  ['DONE', 'done'],
  ['CANCELLED', 'canceled'],
])

/** Returns undefined if the body is not a payment of Asaas. A null field counts as missing. */
export function readPayment(body: unknown): Payment | undefined {
  if (!isObject(body)) return undefined
  const id = textOf(body.id)
  const processorStatus = textOf(body.status)
  const amountCents = readCents(body.value)
  const refunds = readRefunds(body.refunds)
  if (!id || !processorStatus || amountCents === undefined || !refunds) return undefined
  const known = STATUSES.get(processorStatus)
  const refundedCents = refundedOf(known?.status, amountCents, refunds)
  const isDeleted = body.deleted === true
  return {
    id,
    ourId: textOf(body.externalReference),
    processorCustomerId: textOf(body.customer),
    method: METHODS.get(textOf(body.billingType)),
    status: isDeleted ? 'deleted' : statusOf(known?.status, refundedCents),
    processorStatus,
    hasBeenPaid: known?.hasBeenPaid ?? false,
    amountCents,
    netAmountCents: readCents(body.netValue),
    dueDate: textOf(body.dueDate),
    refunds,
    refundedCents,
    card: cardOf(body.creditCard),
    pageUrl: textOf(body.invoiceUrl),
    boletoUrl: textOf(body.bankSlipUrl),
    receiptUrl: textOf(body.transactionReceiptUrl),
  }
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** After a partial refund Asaas leaves the status unchanged. */
function statusOf(status: PaymentStatus | undefined, refundedCents: bigint): PaymentStatus {
  if (refundedCents > 0n && (status === 'confirmed' || status === 'received')) {
    return 'partially_refunded'
  }
  return status ?? 'unknown'
}

function refundedOf(
  status: PaymentStatus | undefined,
  amountCents: bigint,
  refunds: readonly PaymentRefund[],
): bigint {
  if (status === 'refunded' && refunds.length === 0) return amountCents
  return refunds
    .filter(({ status }) => status === 'done')
    .reduce((sum, refund) => sum + refund.amountCents, 0n)
}

/** Returns undefined if one refund is unreadable: it may be money that was paid out and would not be counted. */
function readRefunds(value: unknown): PaymentRefund[] | undefined {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) return undefined
  const refunds: PaymentRefund[] = []
  for (const refund of value) {
    const amountCents = isObject(refund) ? readCents(refund.value) : undefined
    if (amountCents === undefined) return undefined
    refunds.push({
      status: REFUND_STATUSES.get(textOf(refund.status)) ?? 'unknown',
      amountCents,
      description: textOf(refund.description),
    })
  }
  return refunds
}

function cardOf(value: unknown): Payment['card'] {
  const lastFour = isObject(value) ? textOf(value.creditCardNumber) : undefined
  if (!isObject(value) || !lastFour || !/^\d{4}$/.test(lastFour)) return undefined
  return { brand: textOf(value.creditCardBrand), lastFour }
}
