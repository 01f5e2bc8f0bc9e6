/** A processor in memory that the schedule plays: requests and answers take their time and get lost, and money moves. */
import type {
  CreatePaymentOutcome,
  Payment,
  PaymentOrder,
  PaymentRefund,
  PaymentStatus,
  Processor,
  RefundOutcome,
  Unavailable,
} from '../../../src/money/payments/processor.ts'

export interface Played {
  readonly id: string
  readonly order: PaymentOrder
  readonly createdAt: number
  status: PaymentStatus
  hasBeenPaid: boolean
  /** The issuer has refused the card, or the payer can still pay: nothing moves by itself. */
  isOpen: boolean
  /** It was once left open; a payer who pays it on the page pays a failed top-up. */
  wasLeftOpen: boolean
  readonly refunds: { status: PaymentRefund['status']; amountCents: bigint; description?: string }[]
}

export interface Hooks {
  pause(node: number, at: string): Promise<void>
  /** Resolves when a request whose sender waits no longer reaches the processor. */
  later(at: string): Promise<void>
  random(): number
  now(): number
  /** Before the act; an outcome in place of the act. */
  onCreate(order: PaymentOrder): Promise<'act' | 'drop'>
  onRefund(paymentId: string, description: string): Promise<'act' | 'drop'>
  onCancel(payment: Played): void
  /** After the act. */
  emit(payment: Played, type: string): void
  isCalm(): boolean
}

const LOST: Unavailable = { kind: 'unavailable', mayHaveHappened: true, detail: 'lost' }
const UNREACHED: Unavailable = { kind: 'unavailable', mayHaveHappened: false, detail: 'unreached' }

export class PlayedProcessor {
  readonly id: string
  readonly payments = new Map<string, Played>()
  readonly #hooks: Hooks
  constructor(id: string, hooks: Hooks) {
    this.id = id
    this.#hooks = hooks
  }

  refundedCents({ refunds }: Played, statuses: readonly string[] = ['done']): bigint {
    return refunds
      .filter(({ status }) => statuses.includes(status))
      .reduce((sum, { amountCents }) => sum + amountCents, 0n)
  }

  /** The payer's money that it keeps. */
  keptCents(one: Played): bigint {
    if (!one.hasBeenPaid || one.status === 'chargeback') return 0n
    return one.order.amountCents - this.refundedCents(one)
  }

  read(one: Played): Payment {
    const refundedCents = this.refundedCents(one)
    const isPartly = refundedCents > 0n && (one.status === 'confirmed' || one.status === 'received')
    return {
      id: one.id,
      ourId: one.order.ourId,
      processorCustomerId: one.order.processorCustomerId,
      method: one.order.method,
      status: isPartly ? 'partially_refunded' : one.status,
      processorStatus: one.status.toUpperCase(),
      hasBeenPaid: one.hasBeenPaid,
      amountCents: one.order.amountCents,
      netAmountCents: undefined,
      dueDate: one.order.dueDate,
      refunds: one.refunds.map((refund) => ({ ...refund, description: refund.description })),
      refundedCents,
      card: undefined,
      pageUrl: `https://pay/${one.id}`,
      boletoUrl: undefined,
      receiptUrl: undefined,
    }
  }

  /** As a node reaches it. */
  forNode(node: number): Processor {
    const { payments } = this
    const hooks = this.#hooks
    const exchange = async <Outcome>(
      at: string,
      act: () => Outcome | Promise<Outcome>,
    ): Promise<Outcome | Unavailable> => {
      await hooks.pause(node, `request ${at}`)
      const fate = hooks.isCalm() ? 1 : hooks.random()
      if (fate < 0.04) {
        await hooks.pause(node, `no answer ${at}`)
        return UNREACHED
      }
      if (fate > 0.97 && !hooks.isCalm()) {
        void hooks.later(`late ${at}`).then(act)
        await hooks.pause(node, `no answer ${at}`)
        return LOST
      }
      const outcome = await act()
      await hooks.pause(node, `answer ${at}`)
      return fate < 0.1 ? LOST : outcome
    }
    return {
      id: this.id,
      ensureCustomer: ({ ourId }) =>
        exchange('ensureCustomer', () =>
          !hooks.isCalm() && hooks.random() < 0.03
            ? ({ kind: 'invalid_customer', field: 'name', detail: 'no' } as const)
            : ({ kind: 'customer', customer: { id: `cus_${ourId}` } } as const),
        ),
      createPayment: (order) => exchange('createPayment', () => this.#create(order)),
      findPayment: (id) =>
        exchange('findPayment', () => {
          const one = payments.get(id)
          return one
            ? ({ kind: 'payment', payment: this.read(one) } as const)
            : ({ kind: 'payment_not_found' } as const)
        }),
      findPaymentByReference: (ourId) =>
        exchange('findPaymentByReference', () => {
          const own = [...payments.values()].filter(
            ({ order, status }) => order.ourId === ourId && status !== 'deleted',
          )
          const one = own.find(({ hasBeenPaid }) => hasBeenPaid) ?? own[0]
          return one
            ? ({ kind: 'payment', payment: this.read(one), others: [] } as const)
            : ({ kind: 'payment_not_found' } as const)
        }),
      pixCode: (id) =>
        exchange('pixCode', () => ({
          kind: 'pix_code' as const,
          payload: `pix ${id}`,
          qrCodeBase64: 'cG5n',
          expiresAt: new Date(hooks.now() + 86_400_000),
        })),
      cancelPayment: (id) =>
        exchange('cancelPayment', () => {
          const one = payments.get(id)
          if (!one) return { kind: 'payment_not_found' } as const
          hooks.onCancel(one)
          if (one.hasBeenPaid) return { kind: 'not_cancelable', detail: 'paid' } as const
          one.status = 'deleted'
          one.isOpen = false
          hooks.emit(one, 'PAYMENT_DELETED')
          return { kind: 'canceled' } as const
        }),
      refund: ({ paymentId, amountCents, description }) =>
        exchange<RefundOutcome>('refund', async () => {
          if ((await hooks.onRefund(paymentId, description)) === 'drop') return LOST
          return this.refund(paymentId, amountCents, description)
        }),
    } as Partial<Processor> as Processor
  }

  refund(paymentId: string, amountCents: bigint, description?: string): RefundOutcome {
    const hooks = this.#hooks
    const one = this.payments.get(paymentId)
    if (!one) return { kind: 'payment_not_found' }
    const left = one.order.amountCents - this.refundedCents(one, ['done', 'pending'])
    const isPaid = one.status === 'confirmed' || one.status === 'received'
    if (!isPaid || amountCents > left) return { kind: 'not_refundable', detail: 'no' }
    if (!hooks.isCalm() && hooks.random() < 0.05)
      return { kind: 'insufficient_processor_balance', detail: 'saldo' }
    one.refunds.push({
      status: 'pending',
      amountCents,
      ...(description === undefined ? {} : { description }),
    })
    if (amountCents === left) one.status = 'refund_in_progress'
    hooks.emit(one, 'PAYMENT_REFUND_IN_PROGRESS')
    return { kind: 'refund_accepted', payment: this.read(one) }
  }

  endRefund(one: Played, place: number, status: 'done' | 'canceled'): void {
    const refund = one.refunds[place]
    if (refund?.status !== 'pending') return
    refund.status = status
    if (one.status === 'refund_in_progress' && !one.refunds.some((r) => r.status === 'pending'))
      one.status = this.refundedCents(one) === one.order.amountCents ? 'refunded' : 'received'
    this.#hooks.emit(one, 'PAYMENT_REFUNDED')
  }

  /** With the reference of a top-up, another amount, and the money of somebody. */
  makeByHand(order: PaymentOrder): void {
    const one: Played = {
      id: `hand_${this.payments.size}`,
      order: { ...order, method: 'pix', amountCents: order.amountCents + 1_00n },
      createdAt: this.#hooks.now(),
      status: 'pending',
      hasBeenPaid: false,
      isOpen: true,
      wasLeftOpen: true,
      refunds: [],
    }
    this.payments.set(one.id, one)
    this.pay(one)
  }

  isByHand({ id }: Played): boolean {
    return id.startsWith('hand_')
  }

  pay(one: Played): void {
    one.status = one.order.method === 'card' ? 'confirmed' : 'received'
    one.hasBeenPaid = true
    one.isOpen = false
    this.#hooks.emit(one, 'PAYMENT_CONFIRMED')
  }

  review(one: Played): void {
    one.status = 'in_review'
    one.isOpen = false
    this.#hooks.emit(one, 'PAYMENT_AWAITING_RISK_ANALYSIS')
  }

  leaveOpen(one: Played): void {
    one.status = 'pending'
    one.isOpen = true
    one.wasLeftOpen = true
    this.#hooks.emit(one, 'PAYMENT_REPROVED_BY_RISK_ANALYSIS')
  }

  chargeBack(one: Played): void {
    one.status = 'chargeback'
    this.#hooks.emit(one, 'PAYMENT_CHARGEBACK_REQUESTED')
  }

  async #create(order: PaymentOrder): Promise<CreatePaymentOutcome> {
    const hooks = this.#hooks
    if ((await hooks.onCreate(order)) === 'drop') return LOST
    const chance = hooks.random()
    if (order.method === 'card' && chance < 0.15) return { kind: 'declined', detail: 'não' }
    const one: Played = {
      id: `pay_${order.ourId}`,
      order,
      createdAt: hooks.now(),
      status: 'pending',
      hasBeenPaid: false,
      isOpen: order.method !== 'card',
      wasLeftOpen: order.method !== 'card',
      refunds: [],
    }
    this.payments.set(one.id, one)
    hooks.emit(one, 'PAYMENT_CREATED')
    if (order.method === 'card') {
      if (chance < 0.4) this.pay(one)
      else if (chance < 0.6) this.review(one)
    }
    return { kind: 'payment', payment: this.read(one) }
  }
}
