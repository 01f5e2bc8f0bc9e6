import { Refusal } from './asaas-format.ts'

export interface CheckedCard {
  readonly brand: string
  readonly lastFour: string
  readonly isDeclinedLater: boolean
}

/** Asaas's published test cards. The approved ones are accepted whatever their check digit. */
const APPROVED = new Set(['4444444444444444', '5162306219378829'])
const DECLINED = new Set(['5184019740373151', '4916561358240741'])
/** Not a card of Asaas: it can be saved and is refused when charged, like a card over its limit. */
const DECLINED_LATER = '4000000000000002'

/**
 * Checks a card as the sandbox's issuer does. Throws a `Refusal`. Any other card with a valid check digit is approved,
 * as in Asaas's own sandbox.
 */
export function checkCard(card: { readonly [name: string]: unknown }, today: string): CheckedCard {
  const number = textOf(card.number).replaceAll(/[\s.-]/g, '')
  const month = textOf(card.expiryMonth).padStart(2, '0')
  const year = textOf(card.expiryYear)
  if (!card.holderName) throw invalidCard('Informe o nome do titular do cartão.')
  if (!/^\d{13,19}$/.test(number) || !isKnownOrSound(number)) {
    throw invalidCard('O número do cartão de crédito informado é inválido.')
  }
  if (!/^(0[1-9]|1[0-2])$/.test(month) || !/^\d{4}$/.test(year)) {
    throw invalidCard('A validade do cartão de crédito é inválida.')
  }
  if (`${year}-${month}` < today.slice(0, 7)) throw invalidCard('O cartão de crédito está vencido.')
  if (!/^\d{3,4}$/.test(textOf(card.ccv))) {
    throw invalidCard('O código de segurança do cartão de crédito é inválido.')
  }
  if (DECLINED.has(number)) {
    throw declined()
  }
  return {
    brand: brandOf(number),
    lastFour: number.slice(-4),
    isDeclinedLater: number === DECLINED_LATER,
  }
}

/** Returns the refusal by the issuer; no payment is stored. */
export function declined(): Refusal {
  return new Refusal(
    400,
    'invalid_action',
    'Transação não autorizada. Verifique os dados do cartão de crédito e tente novamente.',
  )
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function invalidCard(description: string): Refusal {
  return new Refusal(400, 'invalid_creditCard', description)
}

function isKnownOrSound(number: string): boolean {
  if (APPROVED.has(number) || DECLINED.has(number)) return true
  let sum = 0
  for (let index = 0; index < number.length; index++) {
    const product = Number(number.at(-1 - index)) * (index % 2 === 0 ? 1 : 2)
    sum += product > 9 ? product - 9 : product
  }
  return sum % 10 === 0
}

function brandOf(number: string): string {
  if (/^3[47]/.test(number)) return 'AMEX'
  if (/^(636368|438935|504175|451416|5067|4576|4011)/.test(number)) return 'ELO'
  if (/^3(0|6|8)/.test(number)) return 'DINERS'
  if (number.startsWith('4')) return 'VISA'
  if (/^(5[1-5]|2[2-7])/.test(number)) return 'MASTERCARD'
  return 'UNKNOWN'
}
