import { isDigit, skipSeparator } from './characters.ts'
import type { Found } from './found.ts'
import { readCardAt } from './read-card-at.ts'
import { isRatherPhone, readPhoneAt } from './read-phone-at.ts'
import { readPaddedAt } from './read-padded-at.ts'
import { readSpelledAt } from './read-spelled-at.ts'
import { readCnpjAt, readCpfAt, readLetterCnpjBefore } from './read-tax-id-at.ts'

/** The shortest is a phone number without its area code. */
const DIGITS_MIN = 8

/** Of numbers alone, so many take a millisecond. */
const STEP_CHARACTERS = 2_048

/**
 * Finds documents, cards and phone numbers in folded text, outside of `taken` (in order, without overlaps). One pass:
 * each run of digits is read once by each reader, and a reader looks at a bounded number of characters around it. Pauses
 * now and then, because this takes almost all of the time of texts that consist of numbers.
 */
export function* findNumbers(
  text: string,
  taken: readonly { readonly start: number; readonly end: number }[],
): Generator<void, Found[]> {
  const found: Found[] = []
  let next = 0
  let free = 0
  let place = 0
  let pauseAt = STEP_CHARACTERS
  while (place < text.length) {
    if (place >= pauseAt) {
      pauseAt = place + STEP_CHARACTERS
      yield
    }
    if (!isDigit(text.charCodeAt(place))) {
      place += 1
      continue
    }
    const runEnd = findRunEnd(text, place)
    let zone = taken[next]
    while (zone !== undefined && zone.end <= place) {
      next += 1
      free = zone.end
      zone = taken[next]
    }
    const limit = zone?.start ?? text.length
    if (limit < runEnd) {
      place = Math.max(runEnd, zone?.end ?? 0)
      continue
    }
    const number = readNumber(text, place, runEnd)
    if (number !== undefined && number.start >= free && number.end <= limit) {
      found.push(number)
      free = number.end
    }
    place = Math.max(runEnd, free)
  }
  return found
}

function readNumber(text: string, start: number, runEnd: number): Found | undefined {
  return (
    (hasDigits(text, start) ? readDigits(text, start, runEnd) : undefined) ??
    (runEnd - start >= 2 ? readLetterCnpjBefore(text, runEnd) : undefined)
  )
}

/** How many digits may stand before the first separator; only phone numbers begin with any count. */
const CPF_RUNS = new Set([3, 6, 9, 11])
const CNPJ_RUNS = new Set([2, 5, 8, 12, 14])
const CARD_RUNS = new Set([4, 6, 8, 13, 14, 15, 16, 17, 18, 19])

function readDigits(text: string, start: number, runEnd: number): Found | undefined {
  const run = runEnd - start
  if (run === 1) return readSpelledAt(text, start) ?? readPhoneAt(text, start)
  const cpf = CPF_RUNS.has(run) ? readCpfAt(text, start) : undefined
  if (cpf !== undefined) return isRatherPhone(text, start) ? (readPhoneAt(text, start) ?? cpf) : cpf
  return (
    (CNPJ_RUNS.has(run) ? readCnpjAt(text, start) : undefined) ??
    (CARD_RUNS.has(run) ? readCardAt(text, start) : undefined) ??
    (run >= 9 ? readPaddedAt(text, start, runEnd) : undefined) ??
    readPhoneAt(text, start)
  )
}

function findRunEnd(text: string, start: number): number {
  let end = start + 1
  while (isDigit(text.charCodeAt(end))) end += 1
  return end
}

/** Lists of numbers with commas are many; documents with commas have them after their first or second group. */
function mayHaveComma(digits: number): boolean {
  return digits >= 2 && digits <= 6
}

/** Brackets and `*`, and the letters of `(0xx11)`. */
function mayStandBetween(code: number): boolean {
  return (code >= 40 && code <= 42) || (code | 32) === 120
}

/** Whether enough digits follow with nothing but separators between them; stops at the last of them. */
function hasDigits(text: string, start: number): boolean {
  let place = start
  for (let count = 0; count < DIGITS_MIN; place += 1) {
    if (isDigit(text.charCodeAt(place))) {
      count += 1
      continue
    }
    const after = skipSeparator(text, place)
    if (after > place && (text[place] !== ',' || mayHaveComma(count))) place = after - 1
    else if (!mayStandBetween(text.charCodeAt(place))) return false
  }
  return true
}
