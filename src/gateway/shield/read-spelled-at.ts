import { readTaxId } from '../../platform/lib/tax-id.ts'
import { isDigit, skipSeparator } from './characters.ts'
import type { Found } from './found.ts'
import { isCardNumber } from './read-card-at.ts'
import { standsAlone } from './read-groups.ts'
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

const EXPONENT = /(\d{1,24})(?:\.(\d{1,24}))?e([+-]?\d{1,2})(?![\da-z])/iy

/** The whole number with an exponent that begins here, as programs write large ones: `5.2998224725e10`. */
export function readExponentAt(text: string, start: number, runEnd: number): Found | undefined {
  const after = text.charCodeAt(runEnd)
  if (after !== 46 && (after | 32) !== 101) return undefined
  EXPONENT.lastIndex = start
  const [spelling, whole = '', decimals = '', exponent] = EXPONENT.exec(text) ?? []
  if (spelling === undefined || !standsAlone(text, start, start + 1)) return undefined
  const zeros = Number(exponent) - decimals.length
  const digits = (whole + decimals).padEnd((whole + decimals).length + zeros, '0')
  const cut = zeros < 0 ? digits.slice(zeros) : ''
  if (/[1-9]/.test(cut)) return undefined
  const canonical = digits.slice(0, digits.length - cut.length)
  const kind = kindOf(canonical)
  return kind && { kind, start, end: start + spelling.length, canonical }
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
