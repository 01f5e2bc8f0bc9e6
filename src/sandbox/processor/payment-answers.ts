import { readCents } from '../../platform/lib/exact-json.ts'
import type { Answer, AnswerApiDeps, ApiCall } from './api-call.ts'
import { writeBoletoLine } from './boleto-line.ts'
import { drawPixCode } from './draw-pix-code.ts'
import type { SandboxState } from './open-state.ts'
import type { PaymentLife, NewPayment } from './payment-life.ts'
import {
  type SandboxPayment,
  type BillingType,
  type SandboxCard,
  brasiliaDate,
  isDate,
} from './sandbox-records.ts'
import { Refusal, renderList } from './asaas-format.ts'
import { declined } from './test-cards.ts'

const LIMIT_DEFAULT = 10
const LIMIT_MAX = 100

export function answerList(data: readonly object[], query: URLSearchParams): object {
  const limit = Math.min(Number(query.get('limit')) || LIMIT_DEFAULT, LIMIT_MAX)
  return renderList(data, limit, Number(query.get('offset')) || 0)
}

/** Whether a value passes the query's filter of this name, or the query has none. */
export function matches(query: URLSearchParams, name: string, value: unknown): boolean {
  const wanted = query.get(name)
  return wanted === null || wanted === value
}

/** Filters by `<name>[ge]` and `<name>[le]`, both inclusive; true if the query has neither. */
function isWithin(query: URLSearchParams, name: string, day: string | undefined): boolean {
  const [first, last] = [query.get(`${name}[ge]`), query.get(`${name}[le]`)]
  if (first === null && last === null) return true
  return day !== undefined && (first === null || day >= first) && (last === null || day <= last)
}

type Body = { readonly [name: string]: unknown }

const BILLING_TYPES: readonly unknown[] = ['PIX', 'CREDIT_CARD', 'BOLETO', 'UNDEFINED']
const DESCRIPTION_CHARACTERS_MAX = 500

/** Throws a `Refusal` for the first fault, as Asaas does. */
function readNewPayment(state: SandboxState, body: Body): NewPayment {
  const customer = state.customers.get(String(body.customer))
  if (!customer || customer.isDeleted) {
    throw new Refusal(400, 'invalid_customer', 'Customer inválido ou não informado.')
  }
  if (!BILLING_TYPES.includes(body.billingType)) {
    throw new Refusal(400, 'invalid_billingType', 'O tipo de cobrança é inválido.')
  }
  const billingType = body.billingType as BillingType
  const amountCents = readCents(body.value)
  if (amountCents === undefined || amountCents <= 0n) {
    throw new Refusal(400, 'invalid_value', 'O valor da cobrança é inválido.')
  }
  const dueDate = String(body.dueDate)
  if (!isDate(dueDate) || dueDate < brasiliaDate(new Date())) {
    throw new Refusal(400, 'invalid_dueDate', 'Não é permitido data de vencimento inferior a hoje.')
  }
  const description = typeof body.description === 'string' ? body.description : null
  if (description !== null && description.length > DESCRIPTION_CHARACTERS_MAX) {
    throw new Refusal(400, 'invalid_description', 'A descrição deve ter até 500 caracteres.')
  }
  return {
    customerId: customer.id,
    billingType,
    amountCents,
    dueDate,
    description,
    externalReference: typeof body.externalReference === 'string' ? body.externalReference : null,
    card: billingType === 'CREDIT_CARD' ? readCardToken(state, customer.id, body) : undefined,
  }
}

/** Returns undefined if no token is given: the buyer then pays on the payment's page. */
function readCardToken(
  state: SandboxState,
  customerId: string,
  body: Body,
): SandboxCard | undefined {
  const token = body.creditCardToken
  if (typeof token !== 'string') return undefined
  if (body.creditCardCcv !== undefined || body.creditCard !== undefined) {
    const description = 'Informe o token ou os dados do cartão de crédito, não os dois.'
    throw new Refusal(400, 'invalid_creditCard', description)
  }
  if (typeof body.remoteIp !== 'string' || body.remoteIp === '') {
    throw new Refusal(400, 'invalid_remoteIp', 'O IP do cliente deve ser informado.')
  }
  const card = state.cards.get(token)
  if (card?.customerId !== customerId) {
    const description = `CreditCardToken ${token} não encontrado.`
    throw new Refusal(400, 'invalid_creditCard', description)
  }
  if (card.isDeclinedLater) throw declined()
  return card
}

export function createPaymentAnswers({ state, life }: AnswerApiDeps): Record<string, Answer> {
  const paymentOf = (id: string): SandboxPayment => findPayment(state, id)
  const render = createRender(life)
  return {
    'POST /v3/payments': (call) => render(life.create(readNewPayment(state, call.body)), call),
    'GET /v3/payments': (call) => {
      const { query } = call
      const all = [...state.payments.values()].filter(({ isDeleted }) => !isDeleted)
      const found = all.filter(
        (payment) =>
          matches(query, 'externalReference', payment.externalReference) &&
          matches(query, 'customer', payment.customerId) &&
          matches(query, 'status', payment.status) &&
          isWithin(query, 'dateCreated', payment.dateCreated) &&
          isWithin(query, 'paymentDate', payment.paidDate),
      )
      return answerList(
        found.map((payment) => render(payment, call)),
        query,
      )
    },
    'GET /v3/payments/{id}': (call, id) => render(paymentOf(id), call),
    'DELETE /v3/payments/{id}': (_call, id) => {
      life.remove(paymentOf(id))
      return { deleted: true, id }
    },
    'GET /v3/payments/{id}/pixQrCode': (_call, id) => drawPixCode(paymentOf(id)),
    'GET /v3/payments/{id}/identificationField': (_call, id) => {
      const payment = paymentOf(id)
      if (payment.billingType !== 'BOLETO') {
        throw new Refusal(400, 'invalid_action', 'Esta cobrança não possui boleto.')
      }
      const { line, barCode } = writeBoletoLine(payment)
      return { identificationField: line, nossoNumero: String(payment.number), barCode }
    },
    'POST /v3/payments/{id}/refund': (call, id) => {
      const payment = paymentOf(id)
      const { value, description } = call.body
      const amount = value === undefined ? payment.amountCents : readCents(value)
      life.refund(payment, amount ?? 0n, typeof description === 'string' ? description : null)
      return render(payment, call)
    },
  }
}

/** Returns the endpoints that simulate the payer or an operator of Asaas's sandbox. */
export function createSandboxAnswers({ state, life }: AnswerApiDeps): Record<string, Answer> {
  const render = createRender(life)
  const act =
    (change: (payment: SandboxPayment) => void): Answer =>
    (call, id) => {
      const payment = findPayment(state, id)
      change(payment)
      return render(payment, call)
    }
  return {
    'POST /v3/sandbox/payment/{id}/confirm': act((payment) => life.pay(payment)),
    'POST /v3/sandbox/payment/{id}/overdue': act((payment) => life.markOverdue(payment)),
    // Asaas does not have these two endpoints, but tests need charge-backs and refusals after a review.
    'POST /v3/sandbox/payment/{id}/chargeback': act((payment) => life.chargeBack(payment)),
    'POST /v3/sandbox/payment/{id}/reprove': act((payment) => life.reprove(payment)),
  }
}

function createRender(life: PaymentLife): (payment: SandboxPayment, call: ApiCall) => object {
  return (payment, { reportedCentsOf }) => life.render(payment, reportedCentsOf?.(payment))
}

function findPayment(state: SandboxState, id: string): SandboxPayment {
  const payment = state.payments.get(id)
  if (!payment) throw new Refusal(404, 'not_found', 'Cobrança não encontrada.')
  return payment
}
