/**
 * The adapter for Asaas (API v3), and for the sandbox processor, which serves the same API. It stores nothing and
 * changes no balance. It is tested against the sandbox, and against a server that replays Asaas's published answers and
 * failures.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type {
  Processor,
  CardToTokenize,
  TokenizeCardOutcome,
  ListPaymentsOutcome,
  PaymentQuery,
} from '../processor.ts'
import { createCallAsaas, type CallOptions, type CallAsaas } from './call-asaas.ts'
import { ensureCustomer, removeCustomer } from './customers.ts'
import { boleto, cancelPayment, pixCode, refund } from './payment-acts.ts'
import { createPayment, findPayment, findPaymentByReference, isDeclined } from './payments.ts'
import { createReadEvent } from './read-event.ts'
import { textOf, readPayment } from './read-payment.ts'
import { badAnswer, firstError, invalidCustomer, payerFieldOf, refusedOf } from './read-refusal.ts'

/** Asaas returns at most this many per page. */
const PAGE_PAYMENTS = 100
const DAY_FIELDS = { created: 'dateCreated', paid: 'paymentDate' } as const
/** A request can filter by one status only, so each status has its own pages. */
const RETURNED = [
  'REFUNDED',
  'CHARGEBACK_REQUESTED',
  'CHARGEBACK_DISPUTE',
  'AWAITING_CHARGEBACK_REVERSAL',
]

/** A page token is `<index of the status>:<offset>`. */
async function listPayments(call: CallAsaas, query: PaymentQuery): Promise<ListPaymentsOutcome> {
  const [at = 0, offset = 0] = (query.page ?? '0:0').split(':').map(Number)
  const statuses = query.onlyReturned ? RETURNED : [undefined]
  const status = statuses[at]
  const field = DAY_FIELDS[query.by]
  const parameters = new URLSearchParams({
    [`${field}[ge]`]: query.fromDay,
    [`${field}[le]`]: query.toDay,
    ...(status === undefined ? {} : { status }),
    limit: String(PAGE_PAYMENTS),
    offset: String(offset),
  })
  const answer = await call({
    method: 'GET',
    path: `/payments?${parameters.toString()}`,
    endpoint: 'GET /payments',
  })
  if (answer.kind === 'unavailable') return answer
  if (answer.kind === 'refused') return badAnswer(false, `the list: status ${answer.status}`)
  const { data, hasMore } = answer.body
  // Without either, a truncated list would look complete.
  if (!Array.isArray(data) || typeof hasMore !== 'boolean')
    return badAnswer(false, 'the list of payments has no data or no hasMore')
  const payments = data.map(readPayment)
  if (!payments.every((payment) => payment !== undefined))
    return badAnswer(false, 'the list contains an entry that is not a payment')
  if (hasMore && payments.length === 0)
    return badAnswer(false, 'an empty page claims that more follow')
  const isLastStatus = at + 1 >= statuses.length
  const nextPage = hasMore
    ? `${at}:${offset + payments.length}`
    : isLastStatus
      ? undefined
      : `${at + 1}:0`
  return { kind: 'payments', payments, nextPage }
}

export interface AsaasOptions {
  /** Includes the version segment: `https://api.asaas.com/v3`. */
  readonly baseUrl: string
  readonly apiKey: string
  /** The token that Asaas sends with its webhooks. Without it every webhook is refused. */
  readonly webhookToken: string | undefined
  readonly connectTimeoutMs?: number
  readonly answerTimeoutMs?: number
  readonly cardTimeoutMs?: number
  readonly wait?: CallOptions['wait']
}

const CONNECT_TIMEOUT_MS = 5_000
const ANSWER_TIMEOUT_MS = 15_000
const CARD_TIMEOUT_MS = 60_000

export function createAsaas(options: AsaasOptions): Processor {
  const call = createCallAsaas({
    baseUrl: options.baseUrl,
    apiKey: options.apiKey,
    connectTimeoutMs: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    answerTimeoutMs: options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS,
    cardTimeoutMs: options.cardTimeoutMs ?? CARD_TIMEOUT_MS,
    wait: options.wait ?? ((ms) => sleep(ms)),
  })
  return {
    id: 'asaas',
    ensureCustomer: (details, knownId) => ensureCustomer(call, details, knownId),
    removeCustomer: (ourId) => removeCustomer(call, ourId),
    createPayment: (order) => createPayment(call, order),
    findPaymentByReference: (ourId) => findPaymentByReference(call, ourId),
    findPayment: (id) => findPayment(call, id),
    listPayments: (query) => listPayments(call, query),
    pixCode: (paymentId) => pixCode(call, paymentId),
    boleto: (paymentId) => boleto(call, paymentId),
    cancelPayment: (id) => cancelPayment(call, id),
    tokenizeCard: (card) => tokenizeCard(call, card),
    refund: (request) => refund(call, request),
    readEvent: createReadEvent(options.webhookToken),
    close: () => call.close(),
  }
}

/** Sends the number and the CCV to Asaas and nowhere else: no outcome contains either. */
async function tokenizeCard(
  call: CallAsaas,
  { processorCustomerId, card, holder, remoteIp }: CardToTokenize,
): Promise<TokenizeCardOutcome> {
  const number = card.number.replaceAll(/\D/g, '')
  const answer = await call({
    method: 'POST',
    path: '/creditCard/tokenizeCreditCard',
    endpoint: 'POST /creditCard/tokenizeCreditCard',
    reachesIssuer: true,
    secrets: [card.number, number, card.ccv, card.holderName],
    body: {
      customer: processorCustomerId,
      creditCard: { ...card, number },
      creditCardHolderInfo: {
        name: holder.name,
        email: holder.email,
        cpfCnpj: holder.taxId,
        postalCode: holder.postalCode.replaceAll(/\D/g, ''),
        addressNumber: holder.addressNumber,
        addressComplement: holder.addressComplement,
        phone: holder.phone.replaceAll(/\D/g, ''),
      },
      remoteIp,
    },
  })
  if (answer.kind === 'unavailable') return answer
  if (answer.kind === 'refused') return readRefusal(answer.errors)
  const token = textOf(answer.body.creditCardToken)
  if (!token) return badAnswer(true, 'the answer holds no token')
  return {
    kind: 'card_token',
    token,
    brand: textOf(answer.body.creditCardBrand),
    lastFour: number.slice(-4),
  }
}

function readRefusal(
  errors: Parameters<typeof refusedOf>[0],
): Exclude<TokenizeCardOutcome, { kind: 'card_token' }> {
  const { code, description } = firstError(errors)
  if (isDeclined(code, description) || /^invalid_creditCard(Number)?$/.test(code)) {
    return { kind: 'declined', detail: description }
  }
  const field = payerFieldOf(errors)
  return field ? invalidCustomer(field, errors) : refusedOf(errors)
}
