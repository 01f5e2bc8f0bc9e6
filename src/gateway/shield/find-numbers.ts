import { isDigit, skipSeparator } from './characters.ts'
import type { Found } from './found.ts'
import { readCardAt } from './read-card-at.ts'
import { isRatherPhone, readPhoneAt } from './read-phone-at.ts'
import { readPaddedAt } from './read-padded-at.ts'
import { readExponentAt, readSpelledAt } from './read-spelled-at.ts'
import {
  CNPJ_RUNS,
  CPF_RUNS,
  readCnpjAt,
  readCpfAt,
  readLetterCnpjBefore,
} from './read-tax-id-at.ts'

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
    const codeEnd = readLongCode(text, place, runEnd)
    if (codeEnd > 0) {
      place = codeEnd
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
    (isCell(text, runEnd) ? readPhoneAt(text, start) : undefined) ??
    (runEnd - start >= 2 ? readLetterCnpjBefore(text, runEnd) : undefined)
  )
}

/** How many digits may stand before the first separator; only phone numbers begin with any count. */
const CARD_RUNS = new Set([4, 6, 8, 13, 14, 15, 16, 17, 18, 19])

function readDigits(text: string, start: number, runEnd: number): Found | undefined {
  const run = runEnd - start
  const exponent = readExponentAt(text, start, runEnd)
  if (exponent !== undefined) return exponent
  if (run === 1) return readSpelledAt(text, start) ?? readPhoneAt(text, start)
  const checked = readChecked(text, start, runEnd)
  if (checked?.kind === 'cpf' && isRatherPhone(text, start))
    return readPhoneAt(text, start) ?? checked
  return checked ?? readPhoneBesides(text, start, runEnd)
}

/** Whether a table or a list goes on here, whose next cell may be the rest of a phone number. */
function isCell(text: string, end: number): boolean {
  const code = text.charCodeAt(text[end] === ' ' ? end + 1 : end)
  return code === 124 || code === 59
}

/** What has check digits. */
function readChecked(text: string, start: number, runEnd: number): Found | undefined {
  const run = runEnd - start
  return (
    (CPF_RUNS.has(run) ? readCpfAt(text, start) : undefined) ??
    (CNPJ_RUNS.has(run) ? readCnpjAt(text, start) : undefined) ??
    (CARD_RUNS.has(run) ? readCardAt(text, start) : undefined) ??
    readPaddedAt(text, start, runEnd)
  )
}

/** A phone number that has not the beginning of something with check digits for its end. */
function readPhoneBesides(text: string, start: number, runEnd: number): Found | undefined {
  const phone = readPhoneAt(text, start)
  if (phone === undefined) return undefined
  for (let place = runEnd; place < phone.end; place += 1) {
    if (!isDigit(text.charCodeAt(place))) continue
    const end = findRunEnd(text, place)
    if ((readChecked(text, place, end)?.end ?? 0) > phone.end) return undefined
    place = end
  }
  return phone
}

const GAP = '[ \\t-\\r]?[ .-]?[ \\t-\\r]?'
/** The line of a boleto, of a bill of a utility or of a tax, and the access key of an invoice (NF-e). */
const LONG_CODE = new RegExp(
  `(?:\\d{5}[. ]?\\d{5}${GAP}\\d{5}[. ]?\\d{6}${GAP}\\d{5}[. ]?\\d{6}${GAP}\\d${GAP}\\d{14}` +
    `|8\\d{10}[ -]?\\d(?:${GAP}\\d{11}[ -]?\\d){3}|\\d{4}(?:[ .-]\\d{4}){10})(?![ .-]?\\d)`,
  'y',
)
const LONG_CODE_RUNS = new Set([4, 5, 10, 11, 12])

/** The end of the code whose first digits these are; 0 if they are none. Parts of it look like documents by chance. */
function readLongCode(text: string, start: number, runEnd: number): number {
  if (!LONG_CODE_RUNS.has(runEnd - start)) return 0
  LONG_CODE.lastIndex = start
  return LONG_CODE.test(text) ? LONG_CODE.lastIndex : 0
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
