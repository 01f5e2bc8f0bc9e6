/** The bodies of Asaas's published API, field by field. */
import { jsonCents } from '../../platform/lib/exact-json.ts'
import type { SandboxCustomer, SandboxPayment } from './sandbox-records.ts'

/** Thrown for a call that Asaas would refuse; it becomes the status and the list of errors of the answer. */
export class Refusal extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, description: string) {
    super(description)
    this.status = status
    this.code = code
  }
}

export function renderErrors({ code, message }: Refusal): object {
  return { errors: [{ code, description: message }] }
}

export function renderList(data: readonly object[], limit: number, offset: number): object {
  const page = data.slice(offset, offset + limit)
  const hasMore = offset + limit < data.length
  return { object: 'list', hasMore, totalCount: data.length, limit, offset, data: page }
}

export function renderCustomer({ id, dateCreated, isDeleted, fields }: SandboxCustomer): object {
  return {
    object: 'customer',
    id,
    dateCreated,
    ...fields,
    personType: String(fields.cpfCnpj).length === 11 ? 'FISICA' : 'JURIDICA',
    deleted: isDeleted,
    canDelete: true,
    cannotBeDeletedReason: null,
    canEdit: true,
    cannotEditReason: null,
    country: 'Brasil',
  }
}

export interface PaymentRendering {
  /** The origin of the payment pages. */
  readonly origin: string
  /** The reported amount, if it is not the true one. */
  readonly amountCents?: bigint | undefined
}

export function renderPayment(
  payment: SandboxPayment,
  { origin, amountCents = payment.amountCents }: PaymentRendering,
): object {
  const { billingType, card, status } = payment
  const isPaid = payment.paidDate !== undefined
  return {
    object: 'payment',
    id: payment.id,
    dateCreated: payment.dateCreated,
    customer: payment.customerId,
    checkoutSession: null,
    paymentLink: null,
    value: jsonCents(amountCents),
    netValue: jsonCents(netCentsOf(payment)),
    originalValue: null,
    interestValue: null,
    description: payment.description,
    billingType,
    ...(billingType === 'CREDIT_CARD' && {
      confirmedDate: payment.paidDate ?? null,
      creditCard: card
        ? {
            creditCardNumber: card.lastFour,
            creditCardBrand: card.brand,
            creditCardToken: card.token,
          }
        : null,
    }),
    ...(billingType === 'BOLETO' && { canBePaidAfterDueDate: true }),
    pixTransaction: billingType === 'PIX' && isPaid ? randomLike(payment) : null,
    status,
    dueDate: payment.dueDate,
    originalDueDate: payment.dueDate,
    paymentDate: status === 'RECEIVED' ? (payment.paidDate ?? null) : null,
    clientPaymentDate: payment.paidDate ?? null,
    installmentNumber: null,
    invoiceUrl: `${origin}/i/${slugOf(payment)}`,
    invoiceNumber: String(payment.number).padStart(8, '0'),
    externalReference: payment.externalReference,
    deleted: payment.isDeleted,
    anticipated: false,
    anticipable: false,
    creditDate: payment.creditedDate ?? null,
    estimatedCreditDate: payment.creditedDate ?? null,
    transactionReceiptUrl: isPaid ? `${origin}/i/${slugOf(payment)}` : null,
    nossoNumero: billingType === 'BOLETO' ? String(payment.number) : null,
    bankSlipUrl: billingType === 'BOLETO' ? `${origin}/b/pdf/${slugOf(payment)}` : null,
    lastInvoiceViewedDate: null,
    lastBankSlipViewedDate: null,
    discount: { value: 0, limitDate: null, dueDateLimitDays: 0, type: 'FIXED' },
    fine: { value: 0, type: 'FIXED' },
    interest: { value: 0, type: 'PERCENTAGE' },
    postalService: false,
    escrow: null,
    refunds: payment.refunds.length === 0 ? null : payment.refunds.map(renderRefund),
  }
}

/** Returns the id without its prefix, as used in page addresses. */
export function slugOf({ id }: SandboxPayment): string {
  return id.replace('pay_', '')
}

/** Returns the amount less the fee: R$ 1,99, or for cards R$ 0,49 plus 2,99 %, as observed in Asaas's own sandbox. */
export function netCentsOf({ amountCents, billingType }: SandboxPayment): bigint {
  const fee = billingType === 'CREDIT_CARD' ? 49n + (amountCents * 299n + 5_000n) / 10_000n : 199n
  return amountCents > fee ? amountCents - fee : 0n
}

function renderRefund(refund: SandboxPayment['refunds'][number]): object {
  return {
    dateCreated: refund.dateCreated,
    status: refund.status,
    value: jsonCents(refund.amountCents),
    description: refund.description,
    endToEndIdentifier: null,
    effectiveDate: refund.effectiveDate,
    transactionReceiptUrl: null,
  }
}

function randomLike({ id }: SandboxPayment): string {
  return Buffer.from(id).toString('hex').slice(0, 32)
}
