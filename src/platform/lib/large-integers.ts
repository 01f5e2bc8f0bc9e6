/**
 * JSON whose large integers keep their digits: identifiers of databases and networks have 64 bits, and a double has 53.
 * Such an integer becomes what `JSON.rawJSON` makes, an object that `JSON.stringify` writes as it was read.
 */
import { randomBytes } from 'node:crypto'

/** TypeScript does not declare these functions of ECMAScript 2026 yet. */
const exact = JSON as unknown as {
  rawJSON(text: string): object
  isRawJSON(value: unknown): value is { readonly rawJSON: string }
}
/** A shorter integer is exact. */
const HAS_LARGE = /\d{16}/
/** Strings are matched so that the digits within them are not. */
const STRING_OR_LARGE = /"(?:[^"\\]|\\.)*"|(?<![\w.+-])-?\d{16,}(?![\d.eE])/gs
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

/** Writes large integers as marked strings, for a parser that would round them. */
export function markIntegers(text: string): string {
  if (!HAS_LARGE.test(text)) return text
  return text.replace(STRING_OR_LARGE, (found) =>
    found.startsWith('"') || Number.isSafeInteger(Number(found)) ? found : `"${MARK}${found}"`,
  )
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
