/** The records of the sandbox, with Asaas's names. Amounts are centavos. Card numbers are not stored. */
export interface SandboxCustomer {
  readonly id: string
  readonly dateCreated: string
  isDeleted: boolean
  /** The fields of Asaas with the values that were sent. */
  fields: Readonly<Record<string, string | boolean | null>>
}

export interface SandboxCard {
  readonly token: string
  readonly customerId: string
  readonly brand: string
  readonly lastFour: string
  /** The card can be saved but is refused when it is charged. */
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
  /** Milliseconds since 1970. */
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

/** An undelivered event. Its body shows the payment at the time of the event. */
export interface SandboxEvent {
  readonly id: string
  readonly name: string
  readonly paymentId: string
  readonly body: string
  failures: number
}

/** Writes date and time in Brasília, such as `2026-11-21 13:05:59`. */
export function brasiliaTime(at: Date): string {
  return at.toLocaleString('sv-SE', { timeZone: 'America/Sao_Paulo' })
}

export function brasiliaDate(at: Date): string {
  return brasiliaTime(at).slice(0, 10)
}

export function isDate(text: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}
