import { isAsciiLetter, isDigit } from './characters.ts'
import type { Found } from './found.ts'
import { standsAlone } from './read-groups.ts'

const BLANK = '[ \\t-\\r]'
const SEPARATOR = `(?:${BLANK}?[./-]${BLANK}?|${BLANK}{1,2})?`
/** The area code often has a cell of its own. */
const CELL = `(?:${BLANK}?[./|;,-]${BLANK}?|${BLANK}{1,2})?`
/** The area codes in use. */
const AREA =
  '(?:1[1-9]|2[12478]|3[1-578]|4[1-9]|5[1345]|6[1-9]|7[134579]|8[1-9]|9[1-9])(?!\\d?[xX*])'
const COUNTRY = `\\(?(?:\\+|00) ?55\\)?${SEPARATOR}|55${SEPARATOR}`
/** `0`, or `0xx` and `0 15` for the company that carries the call. */
const TRUNK = '\\(?0(?: ?(?:xx|\\*\\*|\\d\\d))?\\)? ?'
const MOBILE = `9${SEPARATOR}\\d{4}${SEPARATOR}\\d{4}|9\\d\\d${SEPARATOR}\\d{3}${SEPARATOR}\\d{3}`
const LANDLINE = `[2-5]\\d{3}${SEPARATOR}\\d{4}`

/** Every pattern has a greatest length, so a match takes bounded time. */
const WITH_AREA = new RegExp(
  `(${COUNTRY})?(${TRUNK})?\\(?(${AREA})(?: ?\\))?${CELL}(?:(${MOBILE})|(${LANDLINE}))(?!\\d)`,
  'iy',
)
const WITHOUT_AREA = new RegExp(`(?:${MOBILE}|${LANDLINE})(?!\\d)`, 'y')
/** Toll-free and premium numbers. */
const SERVICE = new RegExp(
  `\\(?0[3589]00\\)?${SEPARATOR}(?:\\d{2,3}${SEPARATOR}\\d{4}|\\d{3,4}${SEPARATOR}\\d{3}|\\d{2,3}${SEPARATOR}\\d{2}${SEPARATOR}\\d{2})(?!\\d)`,
  'y',
)
const YEARS = /20\d\d ?[-/.] ?(?:19|20)\d\d$/
const PHONE_WORD =
  /(?<![a-z])(?:tel|telefones?|(?:tele)?fone|cel|celular(?:es)?|whats|whatsapp|wpp|zap|contatos?|ligue|ligar|liga|fax|phone|mobile|sms|recado)(?![a-zà-ü])/i
const PHONE_WORD_BEFORE = 40
const CPF_WORD = /cpf/i

const MOBILE_DIGITS = new RegExp(`^${AREA}9\\d{8}$`)

/** Whether the digits alone look like a mobile number with its area code. */
export function isMobileNumber(digits: string): boolean {
  return MOBILE_DIGITS.test(digits)
}

/** Returns the Brazilian phone number whose first run of digits begins here; signs before it belong to it. */
export function readPhoneAt(text: string, firstDigit: number): Found | undefined {
  const start = findStart(text, firstDigit)
  return readWithArea(text, start) ?? readService(text, start) ?? readWithoutArea(text, firstDigit)
}

/** Whether the words before a number name a phone, and not a CPF. */
export function isAfterPhoneWord(text: string, start: number): boolean {
  const before = text.slice(Math.max(0, start - PHONE_WORD_BEFORE), start)
  return PHONE_WORD.test(before)
}

/** Whether eleven digits that are a valid CPF are rather a mobile number. */
export function isRatherPhone(text: string, start: number): boolean {
  const before = text.slice(Math.max(0, start - PHONE_WORD_BEFORE), start)
  return text[start - 1] === '+' || (PHONE_WORD.test(before) && !CPF_WORD.test(before))
}

/** Takes in `(`, `+` and the letters of `(0xx`. */
function findStart(text: string, firstDigit: number): number {
  let start = firstDigit
  const code = text.charCodeAt(start - 1)
  if (isAsciiLetter(code) || code === 32 || code === 41 || code === 42) {
    const trunk = /\(?0 ?(?:xx|\*\*)\)? ?$/i.exec(text.slice(Math.max(0, start - 7), start))
    if (trunk) return start - trunk[0].length
  }
  if (text[start - 1] === '(') start -= 1
  if (text[start - 1] === '+') start -= 1
  return text[start - 1] === '(' && start < firstDigit ? start - 1 : start
}

function readWithArea(text: string, start: number): Found | undefined {
  WITH_AREA.lastIndex = start
  const match = WITH_AREA.exec(text)
  if (match === null) return undefined
  const [spelling, country = '', trunk = '', area = '', mobile, landline = ''] = match
  const end = start + spelling.length
  if (isWrittenBare(spelling) && !standsAlone(text, start, end)) return undefined
  const isLandlineFor = (): boolean => {
    if (/[(+]|^00|xx|\*\*/i.test(country + trunk) || /[()]/.test(spelling)) return true
    if (country !== '' && /^\d+$/.test(spelling)) return true
    if (/[-./]/.test(landline) && !YEARS.test(landline)) return true
    return isAfterPhoneWord(text, start)
  }
  // Ten digits are many things; a mobile number's nine makes it less likely.
  if (mobile === undefined && !isLandlineFor()) return undefined
  return phone(start, end, area + (mobile ?? landline))
}

function readService(text: string, start: number): Found | undefined {
  if (text[start] !== '0' && text[start] !== '(') return undefined
  SERVICE.lastIndex = start
  const spelling = SERVICE.exec(text)?.[0]
  if (spelling === undefined) return undefined
  const end = start + spelling.length
  if (isWrittenBare(spelling) && !standsAlone(text, start, end)) return undefined
  return phone(start, end, spelling)
}

/** A number without its area code counts only after a word that names a phone. */
function readWithoutArea(text: string, start: number): Found | undefined {
  WITHOUT_AREA.lastIndex = start
  const spelling = WITHOUT_AREA.exec(text)?.[0]
  if (spelling === undefined || !isAfterPhoneWord(text, start)) return undefined
  const end = start + spelling.length
  return standsAlone(text, start, end) ? phone(start, end, spelling) : undefined
}

function isWrittenBare(spelling: string): boolean {
  return isDigit(spelling.charCodeAt(0)) && /^\d+$/.test(spelling)
}

function phone(start: number, end: number, spelling: string): Found {
  return { kind: 'phone', start, end, canonical: spelling.replaceAll(/\D/g, '') }
}
