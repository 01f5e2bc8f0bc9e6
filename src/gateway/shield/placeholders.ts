import type { Found } from './found.ts'
import type { DataKind } from '../../customers/shield-setting.ts'

/** What a text is: the arguments of a tool call are JSON as a whole, and any other text may contain some. */
export type Encoding = 'text' | 'json'

/** A spelling of a value that was masked. */
export interface Spelling {
  /** As it stood in the request, within `depth` JSON strings, one within another. */
  readonly source: string
  readonly depth: number
  /** What these strings hold. */
  readonly value: string
  /** A JSON number. Its placeholder stands in quotes, and the quotes go when the value comes back. */
  readonly isNumber: boolean
}

/** What comes back for a placeholder, with the quotes around it if the pattern has them. */
export interface Masked extends Pick<Spelling, 'source' | 'depth' | 'value'> {
  /** The quotes stand within so many JSON strings. */
  readonly quotedAt?: number
}

/** The values of one request and their placeholders. Closures hold them, so no log of this object shows a value. */
export interface Placeholders {
  /** The same placeholder for the same spelling; a second spelling of the same value keeps the number. */
  nameOf(found: Found, spelling: Spelling): string
  /** The same for a number of the request itself, which only a number may stand for: `seed`, `minimum` of a schema. */
  numberFor(value: number): number
  patterns(): Patterns<Masked>
}

/** None of these names ends with another one, and no tag contains a letter that one of them begins with. */
const NAMES: Readonly<Record<DataKind, string>> = {
  cpf: 'CPF',
  cnpj: 'CNPJ',
  email: 'EMAIL',
  phone: 'TELEFONE',
  card: 'CARTAO',
  pix_key: 'PIX',
}

/**
 * A placeholder is `CPF1QZ`, or `CPF1V2QZ` for the second spelling of the same CPF: letters and digits alone, which
 * models copy, Markdown and JSON leave as they are, and the names of speakers and functions may contain. Values are
 * numbered as they occur, so that the next turn of a conversation sends the same beginning and a provider's prompt
 * cache still serves.
 *
 * No placeholder is a prefix of another one, and none begins with the end of another one. As the tag occurs after no
 * name and number of the request's texts (`chooseTag`), every placeholder in a masked text was put there by the mask.
 */
export function createPlaceholders(tag: string): Placeholders {
  const numbers = new Map<string, { readonly name: string; spellings: number }>()
  const known = new Map<string, string>()
  const countOf = new Map<DataKind, number>()
  const numbersFor = new Map<number, number>()
  const patterns = createPatterns<Masked>()

  function numberOf({ kind, canonical }: Found): { readonly name: string; spellings: number } {
    const key = `${kind} ${canonical}`
    const present = numbers.get(key)
    if (present) return present
    const count = (countOf.get(kind) ?? 0) + 1
    countOf.set(kind, count)
    const added = { name: `${NAMES[kind]}${count}`, spellings: 0 }
    numbers.set(key, added)
    return added
  }

  return {
    nameOf(found, spelling) {
      const key = JSON.stringify([found.kind, spelling])
      const present = known.get(key)
      if (present !== undefined) return present
      const number = numberOf(found)
      number.spellings += 1
      const variant = number.spellings === 1 ? '' : `V${number.spellings}`
      const placeholder = `${number.name}${variant}${tag}`
      known.set(key, placeholder)
      addPattern(patterns, placeholder, spelling)
      for (let quotedAt = 0; spelling.isNumber && quotedAt <= QUOTED_DEPTH_MAX; quotedAt += 1) {
        const quote = inJsonStrings('"', quotedAt)
        addPattern(patterns, quote + placeholder + quote, { ...spelling, quotedAt })
      }
      return placeholder
    },
    numberFor(value) {
      const present = numbersFor.get(value)
      if (present !== undefined) return present
      const number = FIRST_NUMBER + numbersFor.size
      numbersFor.set(value, number)
      const text = String(value)
      addPattern(patterns, String(number), { source: text, value: text, depth: 0 })
      return number
    },
    patterns: () => patterns,
  }
}

/** Fifteen digits, which no document has, and few enough for a number of JavaScript. */
const FIRST_NUMBER = 700_000_000_000_001
/** Quotes double their backslashes with each string that they are in; nobody nests JSON text deeper. */
export const QUOTED_DEPTH_MAX = 6

/** A text as it stands within so many JSON strings, one within another. */
export function inJsonStrings(text: string, depth: number): string {
  let escaped = text
  for (let level = Math.min(depth, QUOTED_DEPTH_MAX + 1); level > 0; level -= 1)
    escaped = JSON.stringify(escaped).slice(1, -1)
  return escaped
}

const LETTERS = 'QZKWX'
const LOOKS_ALIKE = /(?:CPF|CNPJ|EMAIL|TELEFONE|CARTAO|PIX)\d+(?:V\d+)?([QZKWX]{2,})/gi

/** Returns the first tag that makes no placeholder of what the texts of the request already contain. */
export function chooseTag(texts: Iterable<string>): string {
  const used: UsedTags = new Map()
  for (const text of texts)
    for (const [, letters = ''] of text.matchAll(LOOKS_ALIKE)) addBeginnings(used, letters)
  for (let length = 2; ; length += 1) {
    const number = used.get(length)?.indexOf(0) ?? 0
    if (number >= 0) return tagAt(number, length)
  }
}

/** For each length, a table with 1 at the number of each used tag. A set of strings takes five times as long. */
type UsedTags = Map<number, Uint8Array>

/** Two million tags: more than a request may have texts that look like placeholders. */
const TAG_LENGTH_MAX = 9

function addBeginnings(used: UsedTags, letters: string): void {
  const upper = letters.toUpperCase()
  const end = Math.min(upper.length, TAG_LENGTH_MAX)
  let number = 0
  for (let index = 0; index < end; index += 1) {
    number += numberAt(upper.charAt(index), index)
    if (index > 0) usedOf(used, index + 1)[number] = 1
  }
}

function usedOf(used: UsedTags, length: number): Uint8Array {
  let ofLength = used.get(length)
  if (!ofLength) {
    ofLength = new Uint8Array(LETTERS.length ** length)
    used.set(length, ofLength)
  }
  return ofLength
}

/** The share of a letter at this place in the number of its tag; their sum is the number from which `tagAt` makes the tag. */
function numberAt(letter: string, index: number): number {
  const digit = (LETTERS.indexOf(letter) - index) % LETTERS.length
  return (digit < 0 ? digit + LETTERS.length : digit) * LETTERS.length ** index
}

/** `QZ` is the first tag of two letters. */
function tagAt(number: number, length: number): string {
  let tag = ''
  for (let rest = number; tag.length < length; rest = Math.floor(rest / LETTERS.length))
    tag += LETTERS[(rest + tag.length) % LETTERS.length]
  return tag
}

/** The strings to replace, as a tree by their characters. ASCII letters match in either case. */
export interface Patterns<Value> {
  readonly next: Map<number, Patterns<Value>>
  value: Value | undefined
}

interface PatternMatch<Value> {
  readonly end: number
  readonly value: Value
}

function createPatterns<Value>(): Patterns<Value> {
  return { next: new Map(), value: undefined }
}

function addPattern<Value>(patterns: Patterns<Value>, pattern: string, value: Value): void {
  let node = patterns
  for (let index = 0; index < pattern.length; index += 1) {
    const code = toLower(pattern.charCodeAt(index))
    let next = node.next.get(code)
    if (next === undefined) {
      next = createPatterns<Value>()
      node.next.set(code, next)
    }
    node = next
  }
  node.value = value
}

/**
 * Returns the pattern that begins at `start`; `partial` if the text ends within a pattern. Expects that no pattern is a
 * prefix of another one.
 */
export function matchPattern<Value>(
  patterns: Patterns<Value>,
  text: string,
  start: number,
): PatternMatch<Value> | 'partial' | undefined {
  let node = patterns
  for (let index = start; index < text.length; index += 1) {
    const next = node.next.get(toLower(text.charCodeAt(index)))
    if (next === undefined) return undefined
    if (next.value !== undefined) return { end: index + 1, value: next.value }
    node = next
  }
  return 'partial'
}

function toLower(code: number): number {
  return code >= 65 && code <= 90 ? code + 32 : code
}
