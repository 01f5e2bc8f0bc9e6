import type { DataKind, Found } from './found.ts'
import { addPattern, createPatterns, type Patterns } from './patterns.ts'

/** How a text holds its values: as they are, or within JSON text, as the arguments of a tool call do. */
export type Encoding = 'text' | 'json'

/** One spelling of a value, in both encodings. */
export interface Spelling {
  readonly text: string
  readonly json: string
  /** A JSON number. Its placeholder stands in quotes, and the quotes go when the value comes back. */
  readonly isNumber: boolean
}

/** The values of one request and their placeholders. Closures hold them, so no log of this object shows a value. */
export interface Placeholders {
  /** The same placeholder for the same spelling; a second spelling of the same value keeps the number. */
  nameOf(found: Found, spelling: Spelling): string
  patternsFor(encoding: Encoding): Patterns
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
  const patterns = { text: createPatterns(), json: createPatterns() }

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
      const key = JSON.stringify([found.kind, spelling.text, spelling.json, spelling.isNumber])
      const present = known.get(key)
      if (present !== undefined) return present
      const number = numberOf(found)
      number.spellings += 1
      const variant = number.spellings === 1 ? '' : `V${number.spellings}`
      const placeholder = `${number.name}${variant}${tag}`
      known.set(key, placeholder)
      addPattern(patterns.text, placeholder, spelling.text)
      addPattern(patterns.json, placeholder, spelling.json)
      if (spelling.isNumber) addPattern(patterns.json, `"${placeholder}"`, spelling.json)
      return placeholder
    },
    patternsFor: (encoding) => patterns[encoding],
  }
}

const LETTERS = 'QZKWX'
const LOOKS_ALIKE = /(?:CPF|CNPJ|EMAIL|TELEFONE|CARTAO|PIX)\d+(?:V\d+)?([QZKWX]{2,})/gi

/** The first tag that makes no placeholder of what the texts of the request already contain. */
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
  for (let place = 0; place < end; place += 1) {
    number += numberAt(upper.charAt(place), place)
    if (place > 0) usedOf(used, place + 1)[number] = 1
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
function numberAt(letter: string, place: number): number {
  const digit = (LETTERS.indexOf(letter) - place) % LETTERS.length
  return (digit < 0 ? digit + LETTERS.length : digit) * LETTERS.length ** place
}

/** `QZ` is the first tag of two letters. */
function tagAt(number: number, length: number): string {
  let tag = ''
  for (let rest = number; tag.length < length; rest = Math.floor(rest / LETTERS.length))
    tag += LETTERS[(rest + tag.length) % LETTERS.length]
  return tag
}
