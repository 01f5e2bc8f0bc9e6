/**
 * Translates the fixed parts of a template of `html`: the text of each block, with the links and emphases in it, is one key
 * of the catalogue, in which `{0}` stands for the first value and `<a>` for the first link. Values are not touched.
 */

/** The fixed parts between the values, and which value follows each part. */
export interface Translated {
  readonly parts: readonly string[]
  readonly places: readonly number[]
}

/** The English of a key; undefined leaves the text as it is. */
export type FindText = (key: string) => string | undefined

/** Stands for a value; no template contains it. */
const VALUE = /\ue000(\d+)\ue000/
const TOKENS = /<[^>]*>|\ue000\d+\ue000|[^<\ue000]+/g
const INLINE = /^<\/?(?:a|b|br|code|em|span|strong|time)\b/
/** What people read or hear. */
const READ_ATTRIBUTE = /\b(aria-label|alt|placeholder|title)="([^"]*)"/g
/** Not for people, or the same in every language. */
const KEPT = /^<(pre|script|style)\b/

export function translateMarkup(template: readonly string[], find: FindText): Translated {
  const joined = template
    .map((part, place) => (place === 0 ? part : `\ue000${place - 1}\ue000${part}`))
    .join('')
  let written = ''
  let block: string[] = []
  let kept: string | undefined
  const endBlock = (): void => {
    for (const piece of piecesOf(block)) written += translatePiece(piece, find)
    block = []
  }
  for (const [token] of joined.matchAll(TOKENS)) {
    if (kept !== undefined) {
      if (token.startsWith(`</${kept}`)) kept = undefined
      written += token
    } else if (!token.startsWith('<') || INLINE.test(token)) block.push(token)
    else {
      endBlock()
      written += translateAttributes(token, find)
      kept = KEPT.exec(token)?.[1]
    }
  }
  endBlock()
  const split = written.split(VALUE)
  return {
    parts: split.filter((_, place) => place % 2 === 0),
    places: split.filter((_, place) => place % 2 === 1).map(Number),
  }
}

/** Links that stand beside each other, without a text between them, are texts of their own. */
function piecesOf(block: readonly string[]): string[][] {
  const pieces: string[][] = [[]]
  let depth = 0
  for (const [place, token] of block.entries()) {
    const before = block[place - 1] ?? ''
    const isOpening = /^<[a-z]/.test(token) && !token.startsWith('<br')
    const isApart = depth === 0 && before.startsWith('</') && (isOpening || isValue(token))
    if (isApart || (depth === 0 && isValue(before) && isOpening)) pieces.push([])
    if (isOpening) depth += 1
    if (token.startsWith('</')) depth -= 1
    pieces.at(-1)?.push(token)
  }
  return pieces
}

function translatePiece(piece: readonly string[], find: FindText): string {
  const first = piece[0] ?? ''
  const last = piece.at(-1) ?? ''
  // Spaces around a piece are no part of it.
  if (/^\s+$/.test(first)) return first + translatePiece(piece.slice(1), find)
  if (/^\s+$/.test(last)) return translatePiece(piece.slice(0, -1), find) + last
  const name = /^<([a-z]+)/.exec(first)?.[1]
  // A piece that is one element: its attributes are no part of the text.
  if (name !== undefined && name !== 'br' && endOf(piece, name) === piece.length - 1)
    return translateAttributes(first, find) + translatePiece(piece.slice(1, -1), find) + last
  if (!piece.some((token) => !token.startsWith('<') && hasLetters(token))) return piece.join('')
  const values: string[] = []
  const tags: string[] = []
  const key = piece
    .map((token) => {
      if (isValue(token)) return `{${values.push(token) - 1}}`
      if (!token.startsWith('<')) return token
      tags.push(translateAttributes(token, find))
      return tagName(token)
    })
    .join('')
  const [, lead = '', text = '', trail = ''] = /^(\s*)([^]*?)(\s*)$/.exec(key) ?? []
  const found = find(text.replaceAll(/\s+/g, ' '))
  if (found === undefined) return piece.join('')
  const filled = found.replaceAll(/\{(\d+)\}|<\/?[a-z]+>/g, (mark, place?: string) => {
    if (place !== undefined) return values[Number(place)] ?? ''
    const at = tags.findIndex((tag) => tagName(tag) === mark)
    return at < 0 ? '' : (tags.splice(at, 1)[0] ?? '')
  })
  return `${lead && ' '}${filled}${trail && ' '}`
}

/** Where the element ends that the piece begins with. */
function endOf(piece: readonly string[], name: string): number {
  let depth = 0
  for (const [place, token] of piece.entries()) {
    if (tagName(token) === `<${name}>`) depth += 1
    if (tagName(token) === `</${name}>`) depth -= 1
    if (depth === 0) return place
  }
  return -1
}

function translateAttributes(tag: string, find: FindText): string {
  return tag.replaceAll(READ_ATTRIBUTE, (whole, name: string, given: string) => {
    const values: string[] = []
    const key = given.replaceAll(new RegExp(VALUE, 'g'), (value) => `{${values.push(value) - 1}}`)
    if (!hasLetters(key)) return whole
    const found = find(key)?.replaceAll(/\{(\d+)\}/g, (_, place) => values[Number(place)] ?? '')
    return found === undefined ? whole : `${name}="${found}"`
  })
}

/** `<a href="/docs">` is `<a>`. */
function tagName(token: string): string | undefined {
  const [, name] = /^<(\/?[a-z]+)/.exec(token) ?? []
  return name === undefined ? undefined : `<${name}>`
}

function isValue(token: string): boolean {
  return token.startsWith('\ue000')
}

function hasLetters(text: string): boolean {
  return /\p{L}/u.test(text.replaceAll(/\{\d+\}/g, ''))
}
