import type { Found } from './found.ts'
import { isJsonNumber } from './place-in-json.ts'
import { inJsonStrings, type Encoding, type Placeholders, type Spelling } from './placeholders.ts'

/**
 * The longest address has 318 characters. Invisible ones and escapes may make a value as long as a request; a longer
 * spelling than this comes back plain, because a few tokens bring it back as often as the model repeats its placeholder.
 */
const SPELLING_MAX = 512

/**
 * Replaces the values, which are in order and without overlaps, by their placeholders. A number of JSON becomes a
 * string of JSON.
 */
export function maskText(
  text: string,
  found: readonly Found[],
  placeholders: Placeholders,
  encoding: Encoding,
): string {
  let masked = ''
  let done = 0
  for (const each of encoding === 'json' ? aloneOr(text, found) : found) {
    const source = text.slice(each.start, each.end)
    const quote = each.isNumber === true ? inJsonStrings('"', each.depth ?? 0) : ''
    const name = placeholders.nameOf(each, spellingOf(source, each))
    masked += text.slice(done, each.start) + quote + name + quote
    done = each.end
  }
  return masked + text.slice(done)
}

/** JSON text may be a number alone. */
function aloneOr(text: string, found: readonly Found[]): readonly Found[] {
  const [first] = found
  if (first === undefined || !isJsonNumber(text)) return found
  return [{ ...first, start: 0, end: text.length, isNumber: true }]
}

function spellingOf(source: string, { canonical, depth = 0, isNumber = false }: Found): Spelling {
  if (source.length > SPELLING_MAX)
    return { source: canonical, value: canonical, depth: 0, isNumber }
  let value = source
  let level = 0
  try {
    // A tab in a string ends it: this was none, but text that looked like its beginning.
    for (; level < depth; level += 1) value = JSON.parse(`"${value}"`) as string
  } catch {
    // The value of the levels that could be read.
  }
  // Without escapes it is the same at any depth, and has one placeholder.
  return { source, value, depth: value === source ? 0 : level, isNumber }
}
