/**
 * Saves a card at the processor. The number and the CCV pass through this code and are stored nowhere: not in a row, a
 * log line, an error or an outcome.
 */
import type { Database } from '../../platform/db/open.ts'
import { guardCards, type TooManyRefusals } from './card-attempts.ts'
import { ensurePayer, hideProcessorName } from './ensure-payer.ts'
import { hasMostPaymentMethods, type NewPaymentMethod } from './payment-methods.ts'
import type { Card, CardHolder, PayerDetails, Processor } from './processor.ts'

export interface CardInput {
  readonly payer: PayerDetails
  readonly card: Card
  readonly holder: CardHolder
  /** The buyer's address. */
  readonly remoteIp: string
  readonly deviceId?: string | undefined
}

export type TokenizedCard =
  /** The caller stores `method`. */
  | { readonly kind: 'tokenized'; readonly method: NewPaymentMethod }
  | { readonly kind: 'card_rejected'; readonly detail: string }
  | { readonly kind: 'too_many_payment_methods' }
  | { readonly kind: 'unavailable' }
  | TooManyRefusals

export async function tokenizeCard(
  db: Database,
  processor: Processor,
  input: CardInput,
): Promise<TokenizedCard> {
  const { ourId: customerId } = input.payer
  if (await hasMostPaymentMethods(db, customerId)) return { kind: 'too_many_payment_methods' }
  const { remoteIp, deviceId } = input
  return guardCards(db, { customerId, remoteIp, deviceId }, () =>
    askProcessor(db, processor, input),
  )
}

async function askProcessor(
  db: Database,
  processor: Processor,
  { payer, card, holder, remoteIp }: CardInput,
): Promise<TokenizedCard> {
  const ensured = await ensurePayer(db, processor, payer)
  if (ensured.kind === 'unavailable') return ensured
  if (ensured.kind === 'refused') return { kind: 'card_rejected', detail: ensured.detail }
  const { processorCustomerId } = ensured
  const outcome = await processor.tokenizeCard({ processorCustomerId, card, holder, remoteIp })
  if (outcome.kind === 'unavailable') return { kind: 'unavailable' }
  if (outcome.kind !== 'card_token')
    return { kind: 'card_rejected', detail: hideProcessorName(outcome.detail) }
  const method = {
    customerId: payer.ourId,
    processorId: processor.id,
    token: outcome.token,
    brand: outcome.brand ?? null,
    lastFour: outcome.lastFour,
    holderName: card.holderName,
    expiryMonth: Number(card.expiryMonth),
    expiryYear: Number(card.expiryYear),
  }
  return { kind: 'tokenized', method }
}
