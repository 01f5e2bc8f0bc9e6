/** JSON with amounts of money: they are read and written digit by digit, never as a double. */
import { randomBytes } from 'node:crypto'
import { jsonBrl, parseBrl, type ExactNumber } from './money.ts'

/**
 * JSON whose large integers keep their digits: identifiers of databases and networks have 64 bits, and a double has 53.
 * Such an integer becomes what `JSON.rawJSON` makes, an object that `JSON.stringify` writes as it was read.
 */

/** TypeScript does not declare these functions of ECMAScript 2026 yet. */
const exact = JSON as unknown as {
  rawJSON(text: string): object
  isRawJSON(value: unknown): value is { readonly rawJSON: string }
}
/** A shorter integer is exact. */
const HAS_LARGE = /\d{16}/
/** Also within strings. */
const LARGE = /(?<![\w.+-])-?\d{16,}(?![\d.eE])/g
/** Nobody outside knows it, so no text can pass for a marked integer. */
const MARK = `${randomBytes(12).toString('hex')}:`
const MARKED = new RegExp(`"${MARK}(-?\\d+)"`, 'g')

/** Parses JSON as `JSON.parse` does, and keeps the digits of large integers. */
export function parseExactly(text: string): unknown {
  const marked = markIntegers(text)
  const value: unknown = JSON.parse(marked)
  return marked === text ? value : unmark(value)
}

/** Returns the digits of an integer that `parseExactly` kept; undefined for any other value. */
export function largeDigitsOf(value: unknown): string | undefined {
  return exact.isRawJSON(value) ? value.rawJSON : undefined
}

/**
 * Writes large integers as marked strings, for a parser that would round them. Strings are skipped by a search for their
 * end: an expression for them overflows its stack in a string of some megabytes, such as a picture.
 */
export function markIntegers(text: string): string {
  if (!HAS_LARGE.test(text)) return text
  let marked = ''
  let done = 0
  /** The next string begins here. */
  let quote = text.indexOf('"')
  let stringEnd = 0
  for (const { 0: found, index } of text.matchAll(LARGE)) {
    while (quote !== -1 && quote < index) {
      stringEnd = endOfString(text, quote)
      quote = text.indexOf('"', stringEnd)
    }
    if (index < stringEnd || Number.isSafeInteger(Number(found))) continue
    marked += `${text.slice(done, index)}"${MARK}${found}"`
    done = index + found.length
  }
  return done === 0 ? text : marked + text.slice(done)
}

/** The place behind the quotation mark that ends the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slash = end
    while (text[slash - 1] === '\\') slash -= 1
    if ((end - slash) % 2 === 0) return end + 1
  }
  return text.length
}

/** Writes the marked strings in a text of JSON as integers again. */
export function unmarkIntegers(text: string): string {
  return text.includes(MARK) ? text.replace(MARKED, '$1') : text
}

/** Replaces marked strings by integers, in place, without recursion: `JSON.parse` reads deeper values than the stack holds. */
function unmark(root: unknown): unknown {
  const holder = [root]
  const waiting: object[] = [holder]
  const read = (value: unknown): unknown => {
    if (typeof value === 'object' && value !== null) waiting.push(value)
    else if (typeof value === 'string' && value.startsWith(MARK))
      return exact.rawJSON(value.slice(MARK.length))
    return value
  }
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (Array.isArray(node)) for (const [index, value] of node.entries()) node[index] = read(value)
    else for (const [key, value] of Object.entries(node)) put(node, key, value, read(value))
  }
  return holder[0]
}

/** A field named `__proto__` is one of the object, as `JSON.parse` makes it. */
function put(node: object, key: string, before: unknown, value: unknown): void {
  if (value !== before)
    Object.defineProperty(node, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
}

/** The names that payment processors use for amounts. Their numbers keep the digits as received. */
const AMOUNT_NAMES = new Set(['value', 'netValue', 'originalValue', 'interestValue'])
const NANO_PER_CENT = 10_000_000n

/** Parses JSON and keeps the digits of amounts. Throws a `SyntaxError` when the text is not JSON. */
export function parseExactJson(text: string): unknown {
  const revive = (name: string, value: unknown, context: { source?: string }) =>
    typeof value === 'number' && AMOUNT_NAMES.has(name) ? context.source : value
  // TypeScript does not know the third argument yet; every supported Node.js passes it.
  return JSON.parse(text, revive as (name: string, value: unknown) => unknown)
}

/** Returns the centavos of an amount in reais; undefined unless it is a whole, non-negative number of them. */
export function readCents(value: unknown): bigint | undefined {
  const nano = typeof value === 'string' ? parseBrl(value) : undefined
  return nano === undefined || nano % NANO_PER_CENT !== 0n ? undefined : nano / NANO_PER_CENT
}

/** Returns centavos as a JSON number of reais. */
export function jsonCents(cents: bigint): ExactNumber {
  return jsonBrl(cents * NANO_PER_CENT)
}
