/**
 * What a payment processor does for us, whoever it is. Amounts are whole centavos. It owns no balance:
 * whoever calls credits and debits, once, by what the processor says of a payment when asked.
 *
 * Processors have no idempotency keys. So after `unavailable` with `mayHaveHappened`, the caller looks
 * the payment up by our reference, and reads a payment's refunds, before it asks for the same again.
 */
import type { IncomingHttpHeaders } from 'node:http'

export interface Processor {
  /** Stored with every payment: `asaas`. */
  readonly id: string
  /** Makes the customer or brings it up to date; at most one for each `ourId`, but for races. */
  ensureCustomer(details: PayerDetails, knownId?: string): Promise<EnsureCustomerOutcome>
  createPayment(order: PaymentOrder): Promise<CreatePaymentOutcome>
  /** Of several with one reference, first a paid one, then a pending one. Deleted ones are not found. */
  findPaymentByReference(ourId: string): Promise<FindByReferenceOutcome>
  findPayment(id: string): Promise<FindPaymentOutcome>
  /** A page of what is on record, in no order that can be relied on. Deleted ones are not listed. */
  listPayments(query: PaymentQuery): Promise<ListPaymentsOutcome>
  pixCode(paymentId: string): Promise<PixCodeOutcome>
  boleto(paymentId: string): Promise<BoletoOutcome>
  /** Good too where it was deleted before. */
  cancelPayment(id: string): Promise<CancelPaymentOutcome>
  tokenizeCard(card: CardToTokenize): Promise<TokenizeCardOutcome>
  /** Pix and card. The refund counts once the payment lists it as `done`. */
  refund(request: RefundRequest): Promise<RefundOutcome>
  /** Checks the token of a webhook and reads its body. */
  readEvent(headers: IncomingHttpHeaders, body: string | Buffer): ReadEventOutcome
  close(): Promise<void>
}

export interface PayerDetails {
  /** The customer's id with us. */
  readonly ourId: string
  readonly name: string
  /** CPF or CNPJ without punctuation. */
  readonly taxId: string
  readonly email: string
  readonly phone?: string | undefined
  readonly postalCode?: string | undefined
  readonly address?: string | undefined
  readonly addressNumber?: string | undefined
  readonly complement?: string | undefined
  /** The neighbourhood (bairro). */
  readonly district?: string | undefined
}

export type PaymentMethod = 'pix' | 'card' | 'boleto'

export interface PaymentOrder {
  /** The processor's external reference; unique with us. */
  readonly ourId: string
  readonly processorCustomerId: string
  readonly method: PaymentMethod
  readonly amountCents: bigint
  /** `YYYY-MM-DD`, a day in Brasília. */
  readonly dueDate: string
  /** At most 500 characters. */
  readonly description: string
  /** With the method `card`. */
  readonly cardToken?: string | undefined
  /** The buyer's address, never the server's; with the method `card`. */
  readonly remoteIp?: string | undefined
}

export type PaymentStatus =
  | 'pending'
  /** A card payment that the processor looks at before it takes it. */
  | 'in_review'
  | 'confirmed'
  | 'received'
  | 'overdue'
  | 'refund_in_progress'
  | 'refunded'
  | 'partially_refunded'
  | 'chargeback'
  | 'deleted'
  /** A status that came after this was written: nothing may be concluded from it. */
  | 'unknown'

export interface Payment {
  readonly id: string
  readonly ourId: string | undefined
  readonly processorCustomerId: string | undefined
  /** Undefined where the processor has a method that we do not offer, or where the payer may choose. */
  readonly method: PaymentMethod | undefined
  readonly status: PaymentStatus
  /** In the processor's own words. */
  readonly processorStatus: string
  /** True from the first certain money on, and still true after a refund or a chargeback. */
  readonly hasBeenPaid: boolean
  readonly amountCents: bigint
  /** After the processor's fee. */
  readonly netAmountCents: bigint | undefined
  readonly dueDate: string | undefined
  readonly refunds: readonly PaymentRefund[]
  /** Sum of the refunds that are done, or the whole where the processor says refunded and lists none. */
  readonly refundedCents: bigint
  readonly card: { readonly brand: string | undefined; readonly lastFour: string } | undefined
  /** The processor's page where the buyer can pay. */
  readonly pageUrl: string | undefined
  readonly boletoUrl: string | undefined
  readonly receiptUrl: string | undefined
}

export interface PaymentRefund {
  readonly status: 'pending' | 'done' | 'canceled' | 'unknown'
  readonly amountCents: bigint
  /** As we gave it: write our refund's id into it, then a refund whose answer was lost can be told. */
  readonly description: string | undefined
}

export interface Card {
  readonly holderName: string
  readonly number: string
  /** `01` to `12`. */
  readonly expiryMonth: string
  /** Four digits. */
  readonly expiryYear: string
  readonly ccv: string
}

export interface CardHolder {
  readonly name: string
  readonly email: string
  readonly taxId: string
  readonly postalCode: string
  readonly addressNumber: string
  readonly addressComplement?: string | undefined
  readonly phone: string
}

export interface CardToTokenize {
  readonly processorCustomerId: string
  readonly card: Card
  readonly holder: CardHolder
  /** The buyer's address, never the server's. */
  readonly remoteIp: string
}

export interface RefundRequest {
  readonly paymentId: string
  readonly amountCents: bigint
  readonly description: string
}

/** No answer that can be relied on. Nothing personal and no credentials are in `detail`. */
export interface Unavailable {
  readonly kind: 'unavailable'
  /** False only where the processor certainly did nothing: it was not reached, or it refused to look. */
  readonly mayHaveHappened: boolean
  readonly retryAfterSeconds?: number
  readonly detail: string
}

/** The processor does not take what we know of the customer. */
export interface InvalidCustomer {
  readonly kind: 'invalid_customer'
  readonly field: PayerField | undefined
  readonly detail: string
}

export type PayerField =
  | 'name'
  | 'tax_id'
  | 'email'
  | 'phone'
  | 'postal_code'
  | 'address'
  | 'processor_customer_id'

/** The card was refused, by its issuer or for what is written on it. Nothing was stored. */
export interface Declined {
  readonly kind: 'declined'
  /** The processor's words, in Portuguese. */
  readonly detail: string
}

export interface PaymentNotFound {
  readonly kind: 'payment_not_found'
}

export type EnsureCustomerOutcome =
  | { readonly kind: 'customer'; readonly customer: ProcessorCustomer }
  | InvalidCustomer
  /** A CNPJ with letters, which this processor does not take yet. */
  | { readonly kind: 'cnpj_not_supported'; readonly detail: string }
  | Unavailable

export interface ProcessorCustomer {
  readonly id: string
}

export type CreatePaymentOutcome =
  | { readonly kind: 'payment'; readonly payment: Payment }
  | Declined
  | InvalidCustomer
  /** The token is not there, or belongs to another customer. */
  | { readonly kind: 'card_not_found'; readonly detail: string }
  /** Anything else that the processor does not take: an amount, a date, a method not switched on. */
  | { readonly kind: 'refused'; readonly code: string; readonly detail: string }
  | Unavailable

export type FindPaymentOutcome =
  | { readonly kind: 'payment'; readonly payment: Payment }
  | PaymentNotFound
  | Unavailable

export type FindByReferenceOutcome =
  | {
      readonly kind: 'payment'
      readonly payment: Payment
      /** Made by calls whose answers were lost; the caller may cancel them. */
      readonly others: readonly Payment[]
    }
  /** May still appear after a call whose answer was lost: it can be on its way. */
  | PaymentNotFound
  | Unavailable

export interface PaymentQuery {
  readonly by: 'created' | 'paid'
  /** `YYYY-MM-DD`, days in Brasília; both are in. */
  readonly fromDay: string
  readonly toDay: string
  /** Only those that were refunded as a whole or charged back. */
  readonly onlyReturned?: boolean
  /** The `nextPage` of the page before. */
  readonly page?: string | undefined
}

export type ListPaymentsOutcome =
  | {
      readonly kind: 'payments'
      readonly payments: readonly Payment[]
      /** Undefined on the last page. */
      readonly nextPage: string | undefined
    }
  | Unavailable

export type PixCodeOutcome =
  | {
      readonly kind: 'pix_code'
      /** "Copia e cola". */
      readonly payload: string
      /** A PNG. */
      readonly qrCodeBase64: string
      readonly expiresAt: Date
    }
  | PaymentNotFound
  /** Not a Pix payment, or one that cannot be paid any more. */
  | { readonly kind: 'refused'; readonly code: string; readonly detail: string }
  | Unavailable

export type BoletoOutcome =
  | {
      readonly kind: 'boleto'
      /** The printable document. */
      readonly url: string
      /** "Linha digitável", 47 digits. */
      readonly line: string
      readonly barCode: string | undefined
    }
  | PaymentNotFound
  | { readonly kind: 'refused'; readonly code: string; readonly detail: string }
  | Unavailable

export type CancelPaymentOutcome =
  | { readonly kind: 'canceled' }
  | PaymentNotFound
  /** It has been paid, most of the time. */
  | { readonly kind: 'not_cancelable'; readonly detail: string }
  | Unavailable

export type TokenizeCardOutcome =
  | {
      readonly kind: 'card_token'
      readonly token: string
      readonly brand: string | undefined
      readonly lastFour: string
    }
  | Declined
  | InvalidCustomer
  /** Anything else, as an address that is not complete. */
  | { readonly kind: 'refused'; readonly code: string; readonly detail: string }
  | Unavailable

export type RefundOutcome =
  | { readonly kind: 'refund_accepted'; readonly payment: Payment }
  | PaymentNotFound
  /** By the payment's state, age or method, or because less is left of it. */
  | { readonly kind: 'not_refundable'; readonly detail: string }
  /** Our account there holds too little; it can succeed later. */
  | { readonly kind: 'insufficient_processor_balance'; readonly detail: string }
  | Unavailable

export type ReadEventOutcome =
  | { readonly kind: 'event'; readonly event: ProcessorEvent }
  /** A 401. Also where no token is configured. */
  | { readonly kind: 'invalid_token' }
  /** The token is good and the body is not: to be logged and answered with 200, or the queue stops. */
  | { readonly kind: 'unreadable_event'; readonly detail: string }

export type ProcessorEventType =
  | 'paid'
  | 'overdue'
  | 'deleted'
  | 'failed'
  | 'refund_in_progress'
  | 'refunded'
  | 'chargeback'
  /** To be stored and answered with 200. */
  | 'other'

/**
 * A hint to look at a payment: nobody signed the body, and events come twice and in any order. What is
 * credited or debited follows from `findPayment` and our own records.
 */
export interface ProcessorEvent {
  /** The same on every delivery of the event. */
  readonly eventId: string
  readonly type: ProcessorEventType
  /** In the processor's own words. */
  readonly processorType: string
  /** Undefined for events of other things than payments. */
  readonly paymentId: string | undefined
  /** Our id, as the body claims. */
  readonly reference: string | undefined
}
