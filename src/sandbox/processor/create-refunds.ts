import { randomBytes } from 'node:crypto'
import {
  brasiliaTime,
  type SandboxPayment,
  type SandboxRefund,
  type SandboxEvent,
} from './sandbox-records.ts'
import type { SandboxState } from './open-state.ts'
import { netCentsOf, Refusal } from './asaas-format.ts'
import type { WebhookQueue } from './deliver-webhooks.ts'
import { eventFaultOf } from './sandbox-faults.ts'

export interface Refunds {
  /** Throws a `Refusal`. The refund is completed a moment later. */
  refund(payment: SandboxPayment, amountCents: bigint, description: string | null): void
  finish(payment: SandboxPayment, refund: SandboxRefund): void
}

export interface RefundsDeps {
  readonly state: SandboxState
  readonly emit: Emit
  readonly later: (act: () => void) => void
  /** The money in the account besides the payments. */
  readonly balanceCents: bigint
}

const PIX_REFUND_DAYS = 90
const DAY_MS = 86_400_000

export function createRefunds({ state, emit, later, balanceCents }: RefundsDeps): Refunds {
  /** Fees are not returned, so a full refund takes more money than the payment brought in. */
  function balance(): bigint {
    let sum = balanceCents
    for (const payment of state.payments.values()) {
      if (payment.paidDate !== undefined) sum += netCentsOf(payment)
      sum -= refundedCentsOf(payment)
      if (payment.status === 'CHARGEBACK_REQUESTED') sum -= payment.amountCents
    }
    return sum
  }

  function finish(payment: SandboxPayment, refund: SandboxRefund): void {
    refund.status = 'DONE'
    refund.effectiveDate = brasiliaTime(new Date())
    if (payment.status !== 'REFUND_IN_PROGRESS') return emit(payment, 'PAYMENT_PARTIALLY_REFUNDED')
    if (payment.refunds.some(({ status }) => status === 'PENDING')) return
    payment.status = 'REFUNDED'
    emit(payment, 'PAYMENT_REFUNDED')
  }

  return {
    finish,
    refund(payment, amountCents, description) {
      const left = payment.amountCents - refundedCentsOf(payment)
      assertRefundable(payment, amountCents, left)
      if (payment.billingType === 'PIX' && amountCents > balance()) {
        throw refusal('invalid_action', 'Saldo insuficiente para realizar o estorno.')
      }
      const refund: SandboxRefund = {
        dateCreated: brasiliaTime(new Date()),
        amountCents,
        description,
        status: 'PENDING',
        effectiveDate: null,
      }
      payment.refunds.push(refund)
      if (amountCents === left) {
        payment.status = 'REFUND_IN_PROGRESS'
        emit(payment, 'PAYMENT_REFUND_IN_PROGRESS')
      }
      later(() => finish(payment, refund))
    },
  }
}

/** Returns the refunded amount, with pending refunds. */
export function refundedCentsOf({ refunds }: SandboxPayment): bigint {
  return refunds.reduce((sum, { amountCents }) => sum + amountCents, 0n)
}

function assertRefundable(payment: SandboxPayment, amountCents: bigint, left: bigint): void {
  const { billingType, status, createdMs } = payment
  if (status !== 'CONFIRMED' && status !== 'RECEIVED') {
    const description = 'Somente é possível estornar cobranças recebidas ou confirmadas.'
    throw refusal('invalid_object', description)
  }
  if (billingType === 'BOLETO') {
    const description = 'O estorno de boleto depende dos dados bancários do pagador.'
    throw refusal('invalid_action', description)
  }
  if (amountCents <= 0n || amountCents > left) {
    const description = 'O valor do estorno é maior que o valor disponível da cobrança.'
    throw refusal('invalid_value', description)
  }
  if (billingType === 'PIX' && Date.now() - createdMs > PIX_REFUND_DAYS * DAY_MS) {
    throw refusal('invalid_action', 'O prazo para estorno de uma cobrança Pix é de 90 dias.')
  }
}

function refusal(code: string, description: string): Refusal {
  return new Refusal(400, code, description)
}

export type Emit = (payment: SandboxPayment, name: string) => void

export interface EmitDeps {
  readonly state: SandboxState
  readonly queue: WebhookQueue
  readonly hasDuplicateEvents: boolean
  readonly render: (payment: SandboxPayment) => object
}

/** Queues events: normally once and in order, but with a fault twice, out of order or not at all. */
export function createEmit({ state, queue, hasDuplicateEvents, render }: EmitDeps): Emit {
  /** Events held back until a later one has overtaken them. */
  const held = new Map<string, SandboxEvent>()

  function createEvent(name: string, payment: SandboxPayment): SandboxEvent {
    const id = `evt_${randomBytes(16).toString('hex')}&${state.nextNumber()}`
    const dateCreated = brasiliaTime(new Date())
    const body = JSON.stringify({ id, event: name, dateCreated, payment: render(payment) })
    return { id, name, paymentId: payment.id, body, failures: 0 }
  }

  return (payment, name) => {
    const fault = eventFaultOf(payment.amountCents)
    if (fault === 'never') return
    const event = createEvent(name, payment)
    if (fault === 'out_of_order' && name === 'PAYMENT_CREATED') {
      held.set(payment.id, event)
      return
    }
    state.events.push(event)
    if (fault === 'twice' || hasDuplicateEvents) state.events.push({ ...event })
    const overtaken = held.get(payment.id)
    if (overtaken) state.events.push(overtaken)
    held.delete(payment.id)
    queue.wake()
  }
}
