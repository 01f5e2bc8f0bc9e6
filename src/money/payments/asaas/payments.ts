import { jsonCents } from '../../../platform/lib/exact-json.ts'
import type {
  CreatePaymentOutcome,
  FindByReferenceOutcome,
  FindPaymentOutcome,
  Payment,
  PaymentMethod,
  PaymentOrder,
} from '../processor.ts'
import type { Answer, CallAsaas, AsaasError } from './call-asaas.ts'
import { readPayment } from './read-payment.ts'
import { badAnswer, firstError, invalidCustomer, refusedOf } from './read-refusal.ts'

const BILLING_TYPES: Readonly<Record<PaymentMethod, string>> = {
  pix: 'PIX',
  card: 'CREDIT_CARD',
  boleto: 'BOLETO',
}
const DESCRIPTION_CHARACTERS_MAX = 500

export async function createPayment(
  call: CallAsaas,
  order: PaymentOrder,
): Promise<CreatePaymentOutcome> {
  const isCard = order.method === 'card'
  const answer = await call({
    method: 'POST',
    path: '/payments',
    endpoint: 'POST /payments',
    reachesIssuer: isCard,
    body: {
      customer: order.processorCustomerId,
      billingType: BILLING_TYPES[order.method],
      value: jsonCents(order.amountCents),
      dueDate: order.dueDate,
      description: order.description.slice(0, DESCRIPTION_CHARACTERS_MAX),
      externalReference: order.ourId,
      ...(isCard ? { creditCardToken: order.cardToken, remoteIp: order.remoteIp } : {}),
    },
  })
  if (answer.kind === 'unavailable') return answer
  if (answer.kind === 'refused') return readRefusal(answer, order)
  const payment = readPayment(answer.body)
  if (!payment) return badAnswer(true, 'the answer to a creation is not a payment')
  // The code that the customer sees must have the amount that will be credited.
  if (payment.amountCents !== order.amountCents || payment.ourId !== order.ourId) {
    return badAnswer(true, `payment ${payment.id} is not the requested one`)
  }
  return { kind: 'payment', payment }
}

export async function findPayment(call: CallAsaas, id: string): Promise<FindPaymentOutcome> {
  const answer = await call({
    method: 'GET',
    path: `/payments/${encodeURIComponent(id)}`,
    endpoint: 'GET /payments/{id}',
  })
  const read = readFound(answer)
  if (read) return read
  const payment = readPayment((answer as Extract<Answer, { kind: 'ok' }>).body)
  return payment?.id === id
    ? { kind: 'payment', payment }
    : badAnswer(false, 'the answer is not the requested payment')
}

export async function findPaymentByReference(
  call: CallAsaas,
  ourId: string,
): Promise<FindByReferenceOutcome> {
  const answer = await call({
    method: 'GET',
    path: `/payments?externalReference=${encodeURIComponent(ourId)}&limit=100`,
    endpoint: 'GET /payments',
  })
  if (answer.kind === 'unavailable') return answer
  if (answer.kind === 'refused') return badAnswer(false, `the list: status ${answer.status}`)
  const { data } = answer.body
  if (!Array.isArray(data)) return badAnswer(false, 'the list of payments has no data')
  const payments = data.map(readPayment)
  if (!payments.every((payment) => payment !== undefined)) {
    return badAnswer(false, 'the list contains an entry that is not a payment')
  }
  // Filtered here as well: if Asaas ignored the filter, the list would contain other payments.
  const own = payments.filter((one) => one.ourId === ourId && one.status !== 'deleted')
  const [payment, ...others] = own.toSorted((a, b) => rankOf(a) - rankOf(b))
  return payment ? { kind: 'payment', payment, others } : { kind: 'payment_not_found' }
}

/** Returns why a GET did not return its object; undefined if it did. */
export function readFound(
  answer: Answer,
): Exclude<FindPaymentOutcome, { kind: 'payment' }> | undefined {
  if (answer.kind === 'ok') return undefined
  if (answer.kind === 'unavailable') return answer
  if (answer.status === 404) return { kind: 'payment_not_found' }
  const { code } = firstError(answer.errors)
  return badAnswer(false, `status ${answer.status} ${code}`)
}

function rankOf({ hasBeenPaid, status }: Payment): number {
  if (hasBeenPaid) return 0
  return status === 'pending' || status === 'in_review' ? 1 : 2
}

function readRefusal(
  { status, errors }: { readonly status: number; readonly errors: readonly AsaasError[] },
  { method }: PaymentOrder,
): CreatePaymentOutcome {
  const { code, description } = firstError(errors)
  if (status === 404 || code === 'invalid_customer') {
    return invalidCustomer('processor_customer_id', errors)
  }
  if (method !== 'card') return refusedOf(errors)
  if (code === 'invalid_creditCard' || code === 'invalid_creditCardToken') {
    return /não encontrado/i.test(description)
      ? { kind: 'card_not_found', detail: description }
      : { kind: 'declined', detail: description }
  }
  return isDeclined(code, description)
    ? { kind: 'declined', detail: description }
    : refusedOf(errors)
}

/**
 * Whether a refusal is that of a card. The code `invalid_action` has many meanings; its text identifies a refused card.
 */
export function isDeclined(code: string, description: string): boolean {
  return code === 'invalid_action' && /transação|cartão|autorizad/i.test(description)
}
