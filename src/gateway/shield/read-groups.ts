import { isAsciiLetter, isDigit, skipSeparator } from './characters.ts'

/** A document's digits as they stand in the text; `end` is exclusive. */
export interface Groups {
  readonly end: number
  readonly digits: string
  readonly separators: number
}

/**
 * Reads exactly `count` digits, with separators nowhere but after as many digits as `breaks` lists. Undefined if the
 * text has other separators there, or a further digit after fewer separators than all.
 */
export function readGroups(
  text: string,
  start: number,
  count: number,
  breaks: readonly number[],
): Groups | undefined {
  let index = start
  let separators = 0
  let next = 0
  for (let length = 0; length < count; length += 1) {
    if (breaks[next] === length) {
      next += 1
      const after = skipSeparator(text, index)
      if (after > index) separators += 1
      index = after
    }
    if (!isDigit(text.charCodeAt(index))) return undefined
    index += 1
  }
  if (isDigit(text.charCodeAt(index)) && separators < breaks.length) return undefined
  return { end: index, digits: text.slice(start, index).replaceAll(/\D/g, ''), separators }
}

const WORDS =
  'cpf|cnpj|pix|chave|cart[aã]o|card|tel|telefone|fone|cel|celular|whats|whatsapp|zap|n[uú]mero|doc|documento|rg|nome|email'
/** Words that stand directly before or after a number, without a space, whatever is on their other side. */
const KNOWN_BEFORE = new RegExp(`(?:${WORDS})$`, 'i')
const KNOWN_AFTER = new RegExp(`^(?:${WORDS})`, 'i')
/** Any other word has no digit on its other side, as ids of letters and digits have. */
const WORD_BEFORE = /(?<![0-9a-z])[a-z]+$/i
const WORD_AFTER = /^[a-z]+(?![0-9a-z])/i
const WORD_MAX = 16

/**
 * Whether a number that is written without separators stands alone: it is no part of an id with letters, and no
 * decimals. A word may be glued to it, on both sides if it is a known one.
 */
export function standsAlone(text: string, start: number, end: number): boolean {
  const before = text.charCodeAt(start - 1)
  if (before === 46 && isDigit(text.charCodeAt(start - 2))) return false
  if (isAsciiLetter(before)) {
    const word = text.slice(Math.max(0, start - WORD_MAX - 1), start)
    if (KNOWN_BEFORE.test(word)) return true
    if (!WORD_BEFORE.test(word)) return false
    if (isAsciiLetter(text.charCodeAt(end))) return isBeforeKnownWord(text, end)
  }
  if (!isAsciiLetter(text.charCodeAt(end))) return true
  if (isBeforeKnownWord(text, end)) return true
  return WORD_AFTER.test(text.slice(end, end + WORD_MAX + 1))
}

export function isBeforeKnownWord(text: string, end: number): boolean {
  return KNOWN_AFTER.test(text.slice(end, end + WORD_MAX))
}
