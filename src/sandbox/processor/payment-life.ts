/** The life cycle of a payment: its transitions, the states that allow them, and the events that they emit. */
import { randomBytes } from 'node:crypto'
import { addDays } from '../../platform/lib/days.ts'
import { brasiliaDate, type PaymentStatus, type SandboxPayment } from './sandbox-records.ts'
import {
  createEmit,
  type Emit,
  type EmitDeps,
  createRefunds,
  type Refunds,
  type RefundsDeps,
} from './create-refunds.ts'
import { goesToReview, reportsOtherAmount } from './sandbox-faults.ts'
import { Refusal, renderPayment } from './asaas-format.ts'

export type NewPayment = Pick<
  SandboxPayment,
  | 'customerId'
  | 'billingType'
  | 'amountCents'
  | 'dueDate'
  | 'description'
  | 'externalReference'
  | 'card'
>

/** Every transition throws a `Refusal` if the payment's state does not allow it. */
export interface PaymentLife extends Pick<Refunds, 'refund'> {
  create(fields: NewPayment): SandboxPayment
  /** The payer pays, or the review approves the card. */
  pay(payment: SandboxPayment): void
  /** The review refuses the card. */
  reprove(payment: SandboxPayment): void
  markOverdue(payment: SandboxPayment): void
  /** Whether it can be removed. */
  isOpen(payment: SandboxPayment): boolean
  remove(payment: SandboxPayment): void
  chargeBack(payment: SandboxPayment): void
  /** The payment in the format of the API. */
  render(payment: SandboxPayment, amountCents?: bigint): object
  close(): void
}

export interface PaymentLifeDeps
  extends
    Pick<EmitDeps, 'state' | 'queue' | 'hasDuplicateEvents'>,
    Pick<RefundsDeps, 'balanceCents'> {
  readonly origin: () => string
  /** The delay until a paid boleto is received and a refund is completed. */
  readonly settleAfterMs: number
}

const CARD_CREDIT_DAYS = 32
const SWEEP_MS = 60_000
const OPEN: readonly PaymentStatus[] = ['PENDING', 'OVERDUE', 'AWAITING_RISK_ANALYSIS']

export function createPaymentLife(deps: PaymentLifeDeps): PaymentLife {
  const { state } = deps
  const render: PaymentLife['render'] = (payment, amountCents = reportedCentsOf(payment)) =>
    renderPayment(payment, { origin: deps.origin(), amountCents })
  const emit = createEmit({ ...deps, render })
  const later = createLater(deps.settleAfterMs, () => state.save())
  const refunds = createRefunds({ state, emit, later, balanceCents: deps.balanceCents })
  const receive = (payment: SandboxPayment): void => {
    if (payment.status === 'CONFIRMED') move(payment, 'RECEIVED', 'PAYMENT_RECEIVED', emit)
  }
  const receiveLater = (payment: SandboxPayment): void => {
    if (payment.billingType === 'BOLETO') later(() => receive(payment))
  }

  function sweep(): void {
    const today = brasiliaDate(new Date())
    for (const payment of state.payments.values()) {
      const isDue = payment.status === 'PENDING' && payment.dueDate < today
      if (isDue && !payment.isDeleted) move(payment, 'OVERDUE', 'PAYMENT_OVERDUE', emit)
    }
  }

  for (const payment of state.payments.values()) {
    if (payment.status === 'CONFIRMED') receiveLater(payment)
    for (const refund of payment.refunds) {
      if (refund.status === 'PENDING') later(() => refunds.finish(payment, refund))
    }
  }
  sweep()
  const sweeper = setInterval(sweep, SWEEP_MS)
  sweeper.unref()

  function pay(payment: SandboxPayment): void {
    assertIn(payment, OPEN)
    accept(payment, emit)
    receiveLater(payment)
  }

  return {
    render,
    pay,
    refund: (...refund) => refunds.refund(...refund),
    create(fields) {
      const payment = createRecord(fields, state.nextNumber())
      state.payments.set(payment.id, payment)
      emit(payment, 'PAYMENT_CREATED')
      if (payment.card && goesToReview(payment.amountCents)) {
        move(payment, 'AWAITING_RISK_ANALYSIS', 'PAYMENT_AWAITING_RISK_ANALYSIS', emit)
      } else if (payment.card) pay(payment)
      return payment
    },
    reprove(payment) {
      assertIn(payment, ['AWAITING_RISK_ANALYSIS'])
      move(payment, 'PENDING', 'PAYMENT_REPROVED_BY_RISK_ANALYSIS', emit)
    },
    markOverdue(payment) {
      assertIn(payment, ['PENDING'])
      move(payment, 'OVERDUE', 'PAYMENT_OVERDUE', emit)
    },
    chargeBack(payment) {
      assertIn(payment, ['CONFIRMED', 'RECEIVED'])
      move(payment, 'CHARGEBACK_REQUESTED', 'PAYMENT_CHARGEBACK_REQUESTED', emit)
    },
    isOpen: ({ isDeleted, status }) => !isDeleted && OPEN.includes(status),
    remove(payment) {
      assertIn(payment, OPEN)
      payment.isDeleted = true
      emit(payment, 'PAYMENT_DELETED')
    },
    close() {
      clearInterval(sweeper)
      later.close()
    },
  }
}

function createRecord(fields: NewPayment, number: number): SandboxPayment {
  const now = new Date()
  return {
    ...fields,
    id: `pay_${randomBytes(8).toString('hex')}`,
    dateCreated: brasiliaDate(now),
    createdMs: now.getTime(),
    number,
    status: 'PENDING',
    isDeleted: false,
    paidDate: undefined,
    creditedDate: undefined,
    refunds: [],
  }
}

/** Confirms the payment: a Pix is received at once, the money of cards and boletos comes later. */
function accept(payment: SandboxPayment, emit: Emit): void {
  const today = brasiliaDate(new Date())
  const { billingType, status } = payment
  if (status === 'AWAITING_RISK_ANALYSIS') emit(payment, 'PAYMENT_APPROVED_BY_RISK_ANALYSIS')
  payment.paidDate = today
  if (billingType === 'CREDIT_CARD' || billingType === 'BOLETO') {
    payment.creditedDate = addDays(today, billingType === 'BOLETO' ? 1 : CARD_CREDIT_DAYS)
    move(payment, 'CONFIRMED', 'PAYMENT_CONFIRMED', emit)
  } else {
    payment.creditedDate = today
    move(payment, 'RECEIVED', 'PAYMENT_RECEIVED', emit)
  }
}

function move(payment: SandboxPayment, to: PaymentStatus, event: string, emit: Emit): void {
  payment.status = to
  emit(payment, event)
}

function assertIn(payment: SandboxPayment, states: readonly PaymentStatus[]): void {
  if (!payment.isDeleted && states.includes(payment.status)) return
  const status = payment.isDeleted ? 'removida' : payment.status
  const description = `Não é possível executar esta ação em uma cobrança ${status}.`
  throw new Refusal(400, 'invalid_action', description)
}

function reportedCentsOf({ paidDate, amountCents }: SandboxPayment): bigint | undefined {
  return paidDate !== undefined && reportsOtherAmount(amountCents) ? amountCents / 2n : undefined
}

/** Runs an act after a delay, unless the sandbox is closed before. */
interface Later {
  (act: () => void): void
  close(): void
}

function createLater(afterMs: number, save: () => Promise<void>): Later {
  const timers = new Set<NodeJS.Timeout>()
  const later = (act: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer)
      act()
      save().catch((error: unknown) => console.error('the sandbox state:', error))
    }, afterMs)
    timer.unref()
    timers.add(timer)
  }
  const close = (): void => {
    for (const timer of timers) clearTimeout(timer)
  }
  return Object.assign(later, { close })
}
