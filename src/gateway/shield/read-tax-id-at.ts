import { readTaxId } from '../../platform/lib/tax-id.ts'
import { isAsciiAlphanumeric, isAsciiLetter, isDigit, skipSeparatorBack } from './characters.ts'
import type { Found } from './found.ts'
import { isBeforeKnownWord, readGroups, standsAlone } from './read-groups.ts'

const CPF_BREAKS = [3, 6, 9]
const CNPJ_BREAKS = [2, 5, 8, 12]
const CNPJ_LENGTH = 14
/** How many digits may stand before the first separator. */
export const CPF_RUNS: ReadonlySet<number> = new Set([3, 6, 9, 11])
export const CNPJ_RUNS: ReadonlySet<number> = new Set([2, 5, 8, 12, 14])

/** Returns the CPF that begins with this digit. */
export function readCpfAt(text: string, start: number): Found | undefined {
  return readDigitsAt(text, start, 11, CPF_BREAKS)
}

/** Returns the CNPJ that begins with this digit and has no letters. */
export function readCnpjAt(text: string, start: number): Found | undefined {
  return readDigitsAt(text, start, CNPJ_LENGTH, CNPJ_BREAKS)
}

function readDigitsAt(
  text: string,
  start: number,
  count: number,
  breaks: readonly number[],
): Found | undefined {
  const groups = readGroups(text, start, count, breaks)
  if (groups === undefined) return undefined
  const { kind } = readTaxId(groups.digits)
  if (kind !== 'cpf' && kind !== 'cnpj') return undefined
  const isClear = groups.separators > 1 || standsAlone(text, start, groups.end)
  return isClear ? { kind, start, end: groups.end, canonical: groups.digits } : undefined
}

/** After as many characters, counted from the end, a separator may stand. */
const CNPJ_BREAKS_BACK = [2, 6, 9, 12]
const WORD_BEFORE = 24

/**
 * Returns the CNPJ with letters that ends before `end`, where a run of digits ends. It is read backwards, because its
 * end is two digits and its beginning may be any word. Small letters count only in the official spelling, with its
 * slash, or after the word CNPJ.
 */
export function readLetterCnpjBefore(text: string, end: number): Found | undefined {
  if (isAsciiAlphanumeric(text.charCodeAt(end)) && !isBeforeKnownWord(text, end)) return undefined
  let index = end
  let hasSlash = false
  let hasLetters = false
  let hasSmallLetters = false
  let next = 0
  for (let length = 0; length < CNPJ_LENGTH; length += 1) {
    if (CNPJ_BREAKS_BACK[next] === length) {
      next += 1
      const before = skipSeparatorBack(text, index)
      if (length === 6) hasSlash = text.slice(before, index).includes('/')
      index = before
    }
    const code = text.charCodeAt(index - 1)
    if (!isDigit(code)) {
      if (length < 2 || !isAsciiLetter(code)) return undefined
      hasLetters = true
      if (code >= 97) hasSmallLetters = true
    }
    index -= 1
  }
  // Without letters it is read forwards.
  if (!hasLetters || isWithinWord(text, index)) return undefined
  if (hasSmallLetters && !hasSlash && !isAfterCnpj(text, index)) return undefined
  const id = text.slice(index, end).replaceAll(/[^0-9A-Za-z]/g, '')
  const reading = readTaxId(id)
  if (reading.kind !== 'cnpj') return undefined
  return { kind: 'cnpj', start: index, end, canonical: reading.taxId }
}

/** The word CNPJ may be glued to the number. */
function isWithinWord(text: string, start: number): boolean {
  return (
    isAsciiAlphanumeric(text.charCodeAt(start - 1)) &&
    !/cnpj$/i.test(text.slice(Math.max(0, start - 4), start))
  )
}

function isAfterCnpj(text: string, start: number): boolean {
  return /cnpj/i.test(text.slice(Math.max(0, start - WORD_BEFORE), start))
}
