/** What the sandbox keeps, in Asaas's own words. Amounts are centavos. Of a card it keeps no number. */
export interface SandboxCustomer {
  readonly id: string
  readonly dateCreated: string
  isDeleted: boolean
  /** As they were sent, of the fields that Asaas has. */
  fields: Readonly<Record<string, string | boolean | null>>
}

export interface SandboxCard {
  readonly token: string
  readonly customerId: string
  readonly brand: string
  readonly lastFour: string
  /** It can be kept, and is refused when it is charged. */
  readonly isDeclinedLater?: boolean
}

export interface SandboxPayment {
  readonly id: string
  readonly customerId: string
  readonly billingType: BillingType
  readonly amountCents: bigint
  readonly dueDate: string
  readonly description: string | null
  readonly externalReference: string | null
  readonly card: SandboxCard | undefined
  readonly dateCreated: string
  /** Of the moment it was made, in milliseconds. */
  readonly createdMs: number
  readonly number: number
  status: PaymentStatus
  isDeleted: boolean
  paidDate: string | undefined
  creditedDate: string | undefined
  refunds: SandboxRefund[]
}

export type BillingType = 'PIX' | 'CREDIT_CARD' | 'BOLETO' | 'UNDEFINED'

export type PaymentStatus =
  | 'PENDING'
  | 'AWAITING_RISK_ANALYSIS'
  | 'CONFIRMED'
  | 'RECEIVED'
  | 'OVERDUE'
  | 'REFUND_IN_PROGRESS'
  | 'REFUNDED'
  | 'CHARGEBACK_REQUESTED'

export interface SandboxRefund {
  readonly dateCreated: string
  readonly amountCents: bigint
  readonly description: string | null
  status: 'PENDING' | 'DONE'
  effectiveDate: string | null
}

/** An event on its way to the webhook. The body is as it was when it happened. */
export interface SandboxEvent {
  readonly id: string
  readonly name: string
  readonly paymentId: string
  readonly body: string
  failures: number
}
