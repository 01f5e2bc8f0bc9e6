import { isDigit, skipSeparator } from './characters.ts'
import type { Found } from './found.ts'
import { readCardAt, isCardNumber } from './read-card-at.ts'
import { isRatherPhone, readPhoneAt, isMobileNumber } from './read-phone-at.ts'
import {
  CNPJ_RUNS,
  CPF_RUNS,
  readCnpjAt,
  readCpfAt,
  readLetterCnpjBefore,
} from './read-tax-id-at.ts'
import { readTaxId } from '../../platform/lib/tax-id.ts'
import { standsAlone } from './read-groups.ts'

/** The longest is a card. */
const DIGITS_MAX = 19

/**
 * The number that is written digit by digit with the same separator between all of them, as in `5 2 9 9 8 2 2 4 7 2 5`,
 * and begins here.
 */
function readSpelledAt(text: string, start: number): Found | undefined {
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
function readExponentAt(text: string, start: number, runEnd: number): Found | undefined {
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
function isAlone(text: string, index: number): boolean {
  return (
    isDigit(text.charCodeAt(index)) &&
    !isDigit(text.charCodeAt(index - 1)) &&
    !isDigit(text.charCodeAt(index + 1))
  )
}

function kindOf(digits: string): Found['kind'] | undefined {
  if (digits.length < 11) return undefined
  const { kind } = readTaxId(digits)
  if (kind === 'cpf' || kind === 'cnpj') return kind
  if (isCardNumber(digits)) return 'card'
  return isMobileNumber(digits) ? 'phone' : undefined
}

/** Fields for either number have the length of a CNPJ, or one more. */
const ZEROS_MAX = { cpf: 4, cnpj: 1 } as const
/** A number in a spreadsheet or in JSON loses its leading zeros. */
const CUT = /^[1-9]\d{8,9}$/
const CPF_WORD = /cpf[^0-9a-z]{0,6}$/i
const CPF_WORD_BEFORE = 9
const CPF_LENGTH = 11

/** The CPF or CNPJ with more or fewer leading zeros, whose run of digits begins here. */
function readPaddedAt(text: string, start: number, runEnd: number): Found | undefined {
  const run = runEnd - start
  for (let zeros = 1; zeros <= ZEROS_MAX.cpf && text[start + zeros - 1] === '0'; zeros += 1) {
    const found =
      (CPF_RUNS.has(run - zeros) ? readCpfAt(text, start + zeros) : undefined) ??
      (zeros <= ZEROS_MAX.cnpj && CNPJ_RUNS.has(run - zeros)
        ? readCnpjAt(text, start + zeros)
        : undefined)
    if (found !== undefined && standsAlone(text, start, found.end)) return { ...found, start }
  }
  const digits = text.slice(start, runEnd)
  if (run < 9 || !CUT.test(digits) || !standsAlone(text, start, runEnd)) return undefined
  if (!CPF_WORD.test(text.slice(Math.max(0, start - CPF_WORD_BEFORE), start))) return undefined
  const canonical = digits.padStart(CPF_LENGTH, '0')
  const { kind } = readTaxId(canonical)
  return kind === 'cpf' ? { kind, start, end: runEnd, canonical } : undefined
}

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
  let index = 0
  let pauseAt = STEP_CHARACTERS
  while (index < text.length) {
    if (index >= pauseAt) {
      pauseAt = index + STEP_CHARACTERS
      yield
    }
    if (!isDigit(text.charCodeAt(index))) {
      index += 1
      continue
    }
    const runEnd = findRunEnd(text, index)
    let zone = taken[next]
    while (zone !== undefined && zone.end <= index) {
      next += 1
      free = zone.end
      zone = taken[next]
    }
    const limit = zone?.start ?? text.length
    if (limit < runEnd) {
      index = Math.max(runEnd, zone?.end ?? 0)
      continue
    }
    const codeEnd = readLongCode(text, index, runEnd)
    if (codeEnd > 0) {
      index = codeEnd
      continue
    }
    const number = readNumber(text, index, runEnd)
    if (number !== undefined && number.start >= free && number.end <= limit) {
      found.push(number)
      free = number.end
    }
    index = Math.max(runEnd, free)
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
  for (let index = runEnd; index < phone.end; index += 1) {
    if (!isDigit(text.charCodeAt(index))) continue
    const end = findRunEnd(text, index)
    if ((readChecked(text, index, end)?.end ?? 0) > phone.end) return undefined
    index = end
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
  let index = start
  for (let count = 0; count < DIGITS_MIN; index += 1) {
    if (isDigit(text.charCodeAt(index))) {
      count += 1
      continue
    }
    const after = skipSeparator(text, index)
    if (after > index && (text[index] !== ',' || mayHaveComma(count))) index = after - 1
    else if (!mayStandBetween(text.charCodeAt(index))) return false
  }
  return true
}
