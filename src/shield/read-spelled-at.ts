import { readTaxId } from '../lib/tax-id.ts'
import { isDigit, skipSeparator } from './characters.ts'
import type { Found } from './found.ts'
import { isCardNumber } from './read-card-at.ts'
import { isMobileNumber } from './read-phone-at.ts'

/** The longest is a card. */
const DIGITS_MAX = 19

/**
 * The number that is written digit by digit with the same separator between all of them, as in `5 2 9 9 8 2 2 4 7 2 5`,
 * and begins here.
 */
export function readSpelledAt(text: string, start: number): Found | undefined {
  const separator = text.slice(start + 1, skipSeparator(text, start + 1))
  if (separator === '') return undefined
  const step = separator.length + 1
  if (isAlone(text, start - step) && text.startsWith(separator, start - step + 1)) return undefined
  let digits = text.charAt(start)
  let end = start + 1
  while (
    digits.length <= DIGITS_MAX &&
    text.startsWith(separator, end) &&
    isAlone(text, end + separator.length)
  ) {
    digits += text[end + separator.length]
    end += step
  }
  const kind = kindOf(digits)
  return kind && { kind, start, end, canonical: digits }
}

/** Whether a single digit stands here. */
function isAlone(text: string, place: number): boolean {
  return (
    isDigit(text.charCodeAt(place)) &&
    !isDigit(text.charCodeAt(place - 1)) &&
    !isDigit(text.charCodeAt(place + 1))
  )
}

function kindOf(digits: string): Found['kind'] | undefined {
  if (digits.length < 11) return undefined
  const { kind } = readTaxId(digits)
  if (kind === 'cpf' || kind === 'cnpj') return kind
  if (isCardNumber(digits)) return 'card'
  return isMobileNumber(digits) ? 'phone' : undefined
}
