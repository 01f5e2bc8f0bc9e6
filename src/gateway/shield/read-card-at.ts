import { isDigit, skipSeparator } from './characters.ts'
import type { Found } from './found.ts'
import { standsAlone } from './read-groups.ts'

/** How cards group their digits: in fours, 4-6-5 (American Express) or 4-6-4 (Diners), 6-10 to 6-13, 8-8, 4-4-8. */
const LAYOUTS = [[4, 8, 12, 16], [4, 10], [6], [8], [4, 8]] as const
const DIGITS_MIN = 13
const DIGITS_MAX = 19

/** Prefixes of issuers, as ranges of the first six digits, with the lengths that they issue. */
const ISSUERS: readonly (readonly [from: number, to: number, lengths: readonly number[]])[] = [
  [300_000, 305_999, [14, 16]], // Diners Club
  [309_500, 309_599, [14, 16]], // Diners Club
  [340_000, 349_999, [15]], // American Express
  [352_800, 358_999, [16, 17, 18, 19]], // JCB
  [360_000, 369_999, [14]], // Diners Club
  [370_000, 379_999, [15]], // American Express
  [380_000, 399_999, [14, 16]], // Diners Club; Hipercard 3841
  [400_000, 499_999, [16, 19]], // Visa; Elo 4011, 4312, 4389, ...
  [500_000, 509_999, [16, 17, 18, 19]], // Aura 5078; Elo 5041, 5066, 5067, 509
  [510_000, 559_999, [16]], // Mastercard
  [560_000, 589_999, [16, 19]], // Maestro
  [601_100, 601_199, [16, 19]], // Discover
  [606_282, 606_282, [16, 19]], // Hipercard
  [620_000, 629_999, [16, 17, 18, 19]], // UnionPay; Elo 627780
  [636_297, 636_368, [16]], // Elo
  [637_000, 637_999, [16]], // Hiper
  [644_000, 659_999, [16, 19]], // Discover; Elo 6500 to 6550
  [222_100, 272_099, [16]], // Mastercard
]
/** Visa cards of 13 digits are no longer issued, and many bar codes have 13 digits. */
const CARD_WORD = /cart[aã]o|card|visa/i
const CARD_WORD_BEFORE = 32

/** Returns the card number that begins with this digit. */
export function readCardAt(text: string, start: number): Found | undefined {
  if (!/[2-6]/.test(text.charAt(start))) return undefined
  for (const breaks of LAYOUTS) {
    const found = readLayout(text, start, breaks)
    if (found !== undefined) return found
  }
  return undefined
}

function readLayout(text: string, start: number, breaks: readonly number[]): Found | undefined {
  let index = start
  let digits = ''
  let next = 0
  let separator: string | undefined
  let longest: Found | undefined
  while (digits.length < DIGITS_MAX) {
    let digit = index
    if (breaks[next] === digits.length) {
      next += 1
      digit = skipSeparator(text, index)
      // One card has the same separator between all its groups, or none.
      separator ??= text.slice(index, digit)
      if (text.slice(index, digit) !== separator) break
    }
    if (!isDigit(text.charCodeAt(digit))) break
    digits += text[digit]
    index = digit + 1
    if (digits.length < DIGITS_MIN || isDigit(text.charCodeAt(index))) continue
    if (!isCard(digits, text, start)) continue
    // After a whole card, three more digits before yet more groups begin the next number.
    if (longest !== undefined && isDigit(text.charCodeAt(skipSeparator(text, index)))) continue
    if (separator || standsAlone(text, start, index))
      longest = { kind: 'card', start, end: index, canonical: digits }
  }
  return longest
}

/** Whether the digits alone look like a card's. */
export function isCardNumber(digits: string): boolean {
  return digits.length > DIGITS_MIN && passesLuhn(digits) && isIssued(digits)
}

function isCard(digits: string, text: string, start: number): boolean {
  if (!passesLuhn(digits)) return false
  if (digits.length === 13)
    return (
      digits.startsWith('4') &&
      CARD_WORD.test(text.slice(Math.max(0, start - CARD_WORD_BEFORE), start))
    )
  return isIssued(digits)
}

function isIssued(digits: string): boolean {
  const prefix = Number(digits.slice(0, 6))
  return ISSUERS.some(
    ([from, to, lengths]) => prefix >= from && prefix <= to && lengths.includes(digits.length),
  )
}

function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let index = digits.length - 1, isDoubled = false; index >= 0; index -= 1) {
    const digit = digits.charCodeAt(index) - 48
    const value = isDoubled ? digit * 2 : digit
    sum += value > 9 ? value - 9 : value
    isDoubled = !isDoubled
  }
  return sum % 10 === 0
}
