import { readCents } from '../../platform/lib/exact-json.ts'
import type { Answer, AnswerApiDeps, ApiCall } from './api-call.ts'
import { answerList, isWithin, matches } from './answer-list.ts'
import { writeBoletoLine } from './boleto-line.ts'
import { drawPixCode } from './draw-pix-code.ts'
import type { SandboxState } from './open-state.ts'
import type { PaymentLife } from './payment-life.ts'
import { readNewPayment } from './read-new-payment.ts'
import type { SandboxPayment } from './sandbox-records.ts'
import { Refusal } from './asaas-format.ts'

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

/** The endpoints that simulate the payer or an operator of Asaas's sandbox. */
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
