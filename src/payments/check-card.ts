import type { Card } from './processor.ts'

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
    return 'card.number: is not the number of a card'
  if (!/^\d{3,4}$/.test(ccv)) return 'card.ccv: must have 3 or 4 digits'
  if (!/^(0[1-9]|1[0-2])$/.test(expiryMonth)) return 'card.expiry_month: must be 01 to 12'
  if (!/^20\d\d$/.test(expiryYear)) return 'card.expiry_year: must have four digits'
  if (`${expiryYear}-${expiryMonth}` < monthIn(BRASILIA, at)) return 'card: has expired'
  // No name has digits. If a client swaps the fields, the card number must not be stored as a name.
  if (/\d/.test(holderName)) return 'card.holder_name: must be a name'
  return undefined
}

/** The Luhn formula: ISO/IEC 7812-1, annex B. */
export function hasSoundCheckDigit(number: string): boolean {
  let sum = 0
  for (let place = 0; place < number.length; place++) {
    const product = Number(number.at(-1 - place)) * (place % 2 === 0 ? 1 : 2)
    sum += product > 9 ? product - 9 : product
  }
  return sum % 10 === 0
}

function monthIn(timeZone: string, at: Date): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone }).format(at).slice(0, 7)
}
