/**
 * The contract of a payment processor. Amounts are whole centavos. A processor changes no balance: the caller credits
 * and debits, once, by the state of a payment that the processor's API returns.
 *
 * Processors have no idempotency keys. After `unavailable` with `mayHaveHappened`, the caller must find the payment by
 * our reference, or read the payment's refunds, before it repeats the request.
 */
import type { IncomingHttpHeaders } from 'node:http'

export interface Processor {
  /** Stored with every payment: `asaas`. */
  readonly id: string
  /** Creates or updates the customer. At most one per `ourId`, except for concurrent calls. */
  ensureCustomer(details: PayerDetails, knownId?: string): Promise<EnsureCustomerOutcome>
  /**
   * Deletes every customer with our id, with saved cards and open payments. Succeeds if there is none.
   */
  removeCustomer(ourId: string): Promise<RemoveCustomerOutcome>
  createPayment(order: PaymentOrder): Promise<CreatePaymentOutcome>
  /** Of several payments with one reference, prefers a paid one, then a pending one. Finds no deleted ones. */
  findPaymentByReference(ourId: string): Promise<FindByReferenceOutcome>
  findPayment(id: string): Promise<FindPaymentOutcome>
  /** One page of the recorded payments, in no guaranteed order and without deleted ones. */
  listPayments(query: PaymentQuery): Promise<ListPaymentsOutcome>
  pixCode(paymentId: string): Promise<PixCodeOutcome>
  boleto(paymentId: string): Promise<BoletoOutcome>
  /** Also succeeds if the payment was deleted before. */
  cancelPayment(id: string): Promise<CancelPaymentOutcome>
  tokenizeCard(card: CardToTokenize): Promise<TokenizeCardOutcome>
  /** Pix and card. The refund counts once the payment lists it as `done`. */
  refund(request: RefundRequest): Promise<RefundOutcome>
  /** Checks the token of a webhook and reads its body. */
  readEvent(headers: IncomingHttpHeaders, body: string | Buffer): ReadEventOutcome
  close(): Promise<void>
}

export interface PayerDetails {
  /** Our id of the customer. */
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
  /** Set for the method `card` only. */
  readonly cardToken?: string | undefined
  /** The buyer's address, never the server's; with the method `card`. */
  readonly remoteIp?: string | undefined
}

export type PaymentStatus =
  | 'pending'
  /** A card payment in the processor's risk review. */
  | 'in_review'
  | 'confirmed'
  | 'received'
  | 'overdue'
  | 'refund_in_progress'
  | 'refunded'
  | 'partially_refunded'
  | 'chargeback'
  | 'deleted'
  /** A status that this code does not know: conclude nothing from it. */
  | 'unknown'

export interface Payment {
  readonly id: string
  readonly ourId: string | undefined
  readonly processorCustomerId: string | undefined
  /** Undefined if it is a method that we do not offer, or if the payer may choose. */
  readonly method: PaymentMethod | undefined
  readonly status: PaymentStatus
  /** The status as the processor names it. */
  readonly processorStatus: string
  /** True once the payment is confirmed, and still true after a refund or a charge-back. */
  readonly hasBeenPaid: boolean
  readonly amountCents: bigint
  /** After the processor's fee. */
  readonly netAmountCents: bigint | undefined
  readonly dueDate: string | undefined
  readonly refunds: readonly PaymentRefund[]
  /** The sum of completed refunds; the whole amount if the processor reports `refunded` and lists no refund. */
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
  /** Our text. Put the id of our refund in it, so that a refund whose answer was lost can be recognized. */
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

/**
 * An outcome that is not known: the processor gave no reliable answer. `detail` contains no personal data and no
 * credentials.
 */
export interface Unavailable {
  readonly kind: 'unavailable'
  /** False only if the processor certainly did nothing: it was not reached, or it rejected the request unread. */
  readonly mayHaveHappened: boolean
  readonly retryAfterSeconds?: number
  readonly detail: string
}

/** A refusal of the customer's data by the processor. */
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

/** A refusal of the card, by its issuer or because its data are invalid. Nothing was stored. */
export interface Declined {
  readonly kind: 'declined'
  /** The processor's text, in Portuguese. */
  readonly detail: string
}

export interface PaymentNotFound {
  readonly kind: 'payment_not_found'
}

export type EnsureCustomerOutcome =
  | { readonly kind: 'customer'; readonly customer: ProcessorCustomer }
  | InvalidCustomer
  /** A CNPJ with letters, which this processor does not support yet. */
  | { readonly kind: 'cnpj_not_supported'; readonly detail: string }
  | Unavailable

export type RemoveCustomerOutcome =
  | { readonly kind: 'removed' }
  | { readonly kind: 'refused'; readonly detail: string }
  | Unavailable

export interface ProcessorCustomer {
  readonly id: string
}

export type CreatePaymentOutcome =
  | { readonly kind: 'payment'; readonly payment: Payment }
  | Declined
  | InvalidCustomer
  /** The token does not exist, or belongs to another customer. */
  | { readonly kind: 'card_not_found'; readonly detail: string }
  /** Any other refusal: an amount, a date, a method that is not enabled. */
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
      /** Created by requests whose answers were lost; the caller may cancel them. */
      readonly others: readonly Payment[]
    }
  /** After a request whose answer was lost, the payment may still appear later. */
  | PaymentNotFound
  | Unavailable

export interface PaymentQuery {
  readonly by: 'created' | 'paid'
  /** `YYYY-MM-DD`, days in Brasília, both inclusive. */
  readonly fromDay: string
  readonly toDay: string
  /** Only payments that were refunded in full or charged back. */
  readonly onlyReturned?: boolean
  /** `nextPage` of the previous page. */
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
  /** Not a Pix payment, or no longer payable. */
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
  /** Usually because it has been paid. */
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
  /** Any other refusal, such as an incomplete address. */
  | { readonly kind: 'refused'; readonly code: string; readonly detail: string }
  | Unavailable

export type RefundOutcome =
  | { readonly kind: 'refund_accepted'; readonly payment: Payment }
  | PaymentNotFound
  /** Because of the payment's state, age or method, or because the remaining amount is smaller. */
  | { readonly kind: 'not_refundable'; readonly detail: string }
  /** Our account at the processor has too little money; the refund can succeed later. */
  | { readonly kind: 'insufficient_processor_balance'; readonly detail: string }
  | Unavailable

export type ReadEventOutcome =
  | { readonly kind: 'event'; readonly event: ProcessorEvent }
  /** Answered with 401; also if no token is configured. */
  | { readonly kind: 'invalid_token' }
  /** The token is valid but the body is not. Log it and answer 200, or the processor stops its queue. */
  | { readonly kind: 'unreadable_event'; readonly detail: string }

export type ProcessorEventType =
  | 'paid'
  | 'overdue'
  | 'deleted'
  | 'failed'
  | 'refund_in_progress'
  | 'refunded'
  | 'chargeback'
  /** Store it and answer 200. */
  | 'other'

/**
 * A hint to read a payment: the body is not signed, and events may come twice and in any order. Credits and debits
 * follow from `findPayment` and our own records alone.
 */
export interface ProcessorEvent {
  /** The same on every delivery of the event. */
  readonly eventId: string
  readonly type: ProcessorEventType
  /** The type as the processor names it. */
  readonly processorType: string
  /** Undefined if the event is not about a payment. */
  readonly paymentId: string | undefined
  /** Our id according to the body, which is not to be trusted. */
  readonly reference: string | undefined
}
