/** A processor that keeps payments in memory and can lose answers, for the tests of refunds. */
import type { Payment, Processor, RefundOutcome } from '../../src/money/payments/processor.ts'
import { paymentInTest } from '../harness/payment.ts'

export interface ModelProcessor extends Processor {
  /** The payments it knows, by their ids. */
  readonly payments: Map<string, Payment>
  pay(topUpId: string, amountCents: bigint): Payment
  /** Amounts refunded or charged back without our request. */
  changeAt(paymentId: string, change: Partial<Payment>): void
  /** The outcome of the next refunds; without one they succeed. */
  readonly nextRefunds: ('done' | 'pending' | 'lost' | 'unreached' | 'not_refundable' | 'short')[]
  /** Refunds that were requested. */
  readonly asked: string[]
}

export function createModelProcessor(id = 'asaas'): ModelProcessor {
  const payments = new Map<string, Payment>()
  const nextRefunds: ModelProcessor['nextRefunds'] = []
  const asked: string[] = []

  function refundAt(
    paymentId: string,
    amountCents: bigint,
    description: string,
    isDone: boolean,
  ): boolean {
    const payment = payments.get(paymentId) as Payment
    const total = payment.refunds
      .filter(({ status }) => status !== 'canceled')
      .reduce((sum, refund) => sum + refund.amountCents, 0n)
    if (payment.status === 'chargeback' || total + amountCents > payment.amountCents) return false
    const status = isDone ? 'done' : 'pending'
    const refunds = [...payment.refunds, { status, amountCents, description } as const]
    payments.set(paymentId, withRefunds(payment, refunds))
    return true
  }

  const model: Pick<ModelProcessor, 'findPayment' | 'refund'> = {
    async findPayment(paymentId) {
      const payment = payments.get(paymentId)
      return payment ? { kind: 'payment', payment } : { kind: 'payment_not_found' }
    },
    async refund({ paymentId, amountCents, description }): Promise<RefundOutcome> {
      const next = nextRefunds.shift() ?? 'done'
      if (next === 'unreached')
        return { kind: 'unavailable', mayHaveHappened: false, detail: 'not reached' }
      if (next === 'short') return { kind: 'insufficient_processor_balance', detail: 'saldo' }
      asked.push(description)
      if (
        next === 'not_refundable' ||
        !refundAt(paymentId, amountCents, description, next !== 'pending')
      )
        return { kind: 'not_refundable', detail: 'no' }
      if (next === 'lost') return { kind: 'unavailable', mayHaveHappened: true, detail: 'timeout' }
      return { kind: 'refund_accepted', payment: payments.get(paymentId) as Payment }
    },
  }
  return {
    ...model,
    id,
    payments,
    nextRefunds,
    asked,
    pay(topUpId, amountCents) {
      const payment = paymentInTest({ topUpId, amountCents })
      payments.set(payment.id, payment)
      return payment
    },
    changeAt(paymentId, change) {
      payments.set(paymentId, { ...(payments.get(paymentId) as Payment), ...change })
    },
  } as ModelProcessor
}

export function withRefunds(payment: Payment, refunds: Payment['refunds']): Payment {
  const refundedCents = refunds
    .filter(({ status }) => status === 'done')
    .reduce((sum, refund) => sum + refund.amountCents, 0n)
  return {
    ...payment,
    refunds,
    refundedCents,
    status:
      refundedCents === payment.amountCents
        ? 'refunded'
        : refundedCents > 0n
          ? 'partially_refunded'
          : payment.status,
  }
}
