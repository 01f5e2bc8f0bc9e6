import { isAsciiLetter, isDigit, skipSeparator } from './characters.ts'

/** A document's digits as they stand in the text; `end` is exclusive. */
export interface Groups {
  readonly end: number
  readonly digits: string
  readonly separators: number
}

/**
 * Reads exactly `count` digits, with separators nowhere but after as many digits as `breaks` lists. Undefined if the
 * text has other separators there, or a further digit.
 */
export function readGroups(
  text: string,
  start: number,
  count: number,
  breaks: readonly number[],
): Groups | undefined {
  let place = start
  let separators = 0
  let next = 0
  for (let length = 0; length < count; length += 1) {
    if (breaks[next] === length) {
      next += 1
      const after = skipSeparator(text, place)
      if (after > place) separators += 1
      place = after
    }
    if (!isDigit(text.charCodeAt(place))) return undefined
    place += 1
  }
  if (isDigit(text.charCodeAt(place))) return undefined
  return { end: place, digits: text.slice(start, place).replaceAll(/\D/g, ''), separators }
}

/** The words that may stand directly before a number, without a space. */
const GLUED_WORD =
  /(?:cpf|cnpj|pix|chave|cart[aã]o|tel|fone|cel|celular|whats|whatsapp|zap|n[uú]mero|doc)$/i
const GLUED_MAX = 10

/**
 * Whether a number that is written without separators stands alone: it is no part of a word or of an id with
 * letters, and no decimals.
 */
export function standsAlone(text: string, start: number, end: number): boolean {
  const before = text.charCodeAt(start - 1)
  if (before === 46 && isDigit(text.charCodeAt(start - 2))) return false
  if (isAsciiLetter(text.charCodeAt(end))) return false
  if (text.charCodeAt(end) === 46 && isDigit(text.charCodeAt(end + 1))) return false
  if (!isAsciiLetter(before)) return true
  return GLUED_WORD.test(text.slice(Math.max(0, start - GLUED_MAX), start))
}
