/**
 * Saves a card at the processor. The number and the CCV pass through this code and are stored nowhere: not in a row, a
 * log line, an error or an outcome.
 */
import type { Database } from '../../platform/db/open.ts'
import { guardCards, type TooManyRefusals } from './card-attempts.ts'
import { ensurePayer, hideProcessorName } from './payers.ts'
import { hasMostPaymentMethods, type NewPaymentMethod } from './payment-methods.ts'
import type { Card, CardHolder, PayerDetails, Processor } from './processor.ts'

/** Published by Asaas for tests; their check digits are invalid. */
const TEST_NUMBERS: ReadonlySet<string> = new Set(['4444444444444444'])
const BRASILIA = 'America/Sao_Paulo'

/** Checks the card before the processor is asked; undefined means no fault. The text repeats nothing of the card. */
export function findCardFault(
  card: Card,
  { takesTestNumbers, at }: { takesTestNumbers: boolean; at: Date },
): string | undefined {
  const { number, holderName, expiryMonth, expiryYear, ccv } = card
  const isTest = takesTestNumbers && TEST_NUMBERS.has(number)
  if (!/^\d{13,19}$/.test(number) || !(isTest || hasSoundCheckDigit(number)))
    return 'card.number: não é o número de um cartão'
  if (!/^\d{3,4}$/.test(ccv)) return 'card.ccv: deve ter 3 ou 4 dígitos'
  if (!/^(0[1-9]|1[0-2])$/.test(expiryMonth)) return 'card.expiry_month: deve ser de 01 a 12'
  if (!/^20\d\d$/.test(expiryYear)) return 'card.expiry_year: deve ter quatro dígitos'
  if (`${expiryYear}-${expiryMonth}` < monthIn(BRASILIA, at)) return 'card: está vencido'
  // No name has digits. If a client swaps the fields, the card number must not be stored as a name.
  if (/\d/.test(holderName)) return 'card.holder_name: deve ser um nome'
  return undefined
}

/** Whether the number's last digit is right by the Luhn formula: ISO/IEC 7812-1, annex B. */
function hasSoundCheckDigit(number: string): boolean {
  let sum = 0
  for (let index = 0; index < number.length; index++) {
    const product = Number(number.at(-1 - index)) * (index % 2 === 0 ? 1 : 2)
    sum += product > 9 ? product - 9 : product
  }
  return sum % 10 === 0
}

function monthIn(timeZone: string, at: Date): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone }).format(at).slice(0, 7)
}

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
