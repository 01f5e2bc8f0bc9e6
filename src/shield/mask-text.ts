import type { Found } from './found.ts'
import type { Encoding, Placeholders, Spelling } from './placeholders.ts'

/**
 * The longest address has 318 characters. Invisible ones and escapes may make a value as long as a request; a longer
 * spelling than this comes back plain, because a few tokens bring it back as often as the model repeats its placeholder.
 */
const SPELLING_MAX = 512

/** Replaces the values, which are in order and without overlaps, by their placeholders. */
export function maskText(
  text: string,
  found: readonly Found[],
  placeholders: Placeholders,
  encoding: Encoding,
): string {
  let masked = ''
  let done = 0
  const isInString = encoding === 'json' ? createStringReader(text) : undefined
  for (const each of found) {
    const isOutside = isInString?.(each.start) === false
    // The sign of a number goes with it: a quote after a sign would be no JSON.
    const start = isOutside && text[each.start - 1] === '-' ? each.start - 1 : each.start
    const source = text.slice(start, each.end)
    const isNumber = isOutside && /^-?\d+$/.test(source)
    const spelling =
      source.length > SPELLING_MAX ? plainly(each.canonical) : spellingOf(source, encoding)
    const name = placeholders.nameOf(each, { ...spelling, isNumber })
    masked += text.slice(done, start) + (isNumber ? `"${name}"` : name)
    done = each.end
  }
  return masked + text.slice(done)
}

/**
 * A text may contain JSON as well: `11.222.333\/0001-81` comes back to a text as it stood, and to JSON without the
 * escape's backslash being escaped again.
 */
function spellingOf(source: string, encoding: Encoding): Pick<Spelling, 'text' | 'json'> {
  const value = source.includes('\\') ? unescapeJson(source) : source
  return encoding === 'json'
    ? { text: value, json: source }
    : { text: source, json: JSON.stringify(value).slice(1, -1) }
}

function plainly(value: string): Pick<Spelling, 'text' | 'json'> {
  return { text: value, json: JSON.stringify(value).slice(1, -1) }
}

function unescapeJson(source: string): string {
  try {
    return String(JSON.parse(`"${source}"`))
  } catch {
    return source
  }
}

/** Says whether a place of JSON text is within a string; expects growing places. */
function createStringReader(text: string): (place: number) => boolean {
  let read = 0
  let isInString = false
  return (place) => {
    for (; read < place; read += 1) {
      if (text[read] === '\\') read += 1
      else if (text[read] === '"') isInString = !isInString
    }
    return isInString
  }
}
