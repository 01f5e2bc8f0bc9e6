/** Reads the free text of a custom tool out of the arguments of a function, `{"input": "..."}`, as they arrive. */

export interface CustomInput {
  /** Returns the text that these arguments add. */
  add(text: string): string
  /** Returns the rest of the text, of arguments that have another form. */
  end(): string
}

const OPENING = /^\s*\{\s*"input"\s*:\s*"/
/** Models write it without spaces, or with a few. */
const OPENING_CHARACTERS_MAX = 200
const ESCAPES: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}
const UNICODE_ESCAPE_CHARACTERS = 6

export function createCustomInput(): CustomInput {
  let all = ''
  /** The first character that is not decoded yet; undefined before the text begins. */
  let next: number | undefined
  let isClosed = false

  function decode(from: number): string {
    let decoded = ''
    let at = from
    while (at < all.length && !isClosed) {
      const character = all.charAt(at)
      if (character === '"') {
        isClosed = true
      } else if (character === '\\') {
        const escape = all.charAt(at + 1)
        const length = escape === 'u' ? UNICODE_ESCAPE_CHARACTERS : 2
        // The escape is not here as a whole yet.
        if (all.length < at + length) break
        decoded +=
          escape === 'u'
            ? String.fromCharCode(Number.parseInt(all.slice(at + 2, at + length), 16))
            : (ESCAPES[escape] ?? escape)
        at += length
      } else {
        decoded += character
        at += 1
      }
    }
    next = at
    return decoded
  }

  return {
    add(text) {
      all += text
      if (next === undefined && all.length <= OPENING_CHARACTERS_MAX + text.length)
        next = OPENING.exec(all)?.[0].length
      return next === undefined || isClosed ? '' : decode(next)
    },
    end: () => (next === undefined ? textOf(all) : ''),
  }
}

function textOf(args: string): string {
  try {
    const value: unknown = JSON.parse(args)
    if (typeof value === 'string') return value
    const input = (value as { input?: unknown } | null)?.input
    return typeof input === 'string' ? input : args
  } catch {
    return args
  }
}
