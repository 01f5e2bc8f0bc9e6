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
  /** All arguments, until the text begins. */
  let before = ''
  let isOpen = false
  let isClosed = false
  /** The beginning of an escape. A long text is never read again for what arrives later. */
  let rest = ''

  function decode(text: string): string {
    let decoded = ''
    let at = 0
    while (at < text.length && !isClosed) {
      const character = text.charAt(at)
      if (character === '"') {
        isClosed = true
      } else if (character === '\\') {
        const escape = text.charAt(at + 1)
        const length = escape === 'u' ? UNICODE_ESCAPE_CHARACTERS : 2
        // The escape is not here as a whole yet.
        if (text.length < at + length) break
        decoded +=
          escape === 'u'
            ? String.fromCharCode(Number.parseInt(text.slice(at + 2, at + length), 16))
            : (ESCAPES[escape] ?? escape)
        at += length
      } else {
        decoded += character
        at += 1
      }
    }
    rest = text.slice(at)
    return decoded
  }

  return {
    add(text) {
      if (isClosed) return ''
      if (isOpen) return decode(rest + text)
      const isEarly = before.length <= OPENING_CHARACTERS_MAX
      before += text
      const opening = isEarly ? OPENING.exec(before)?.[0] : undefined
      if (opening === undefined) return ''
      isOpen = true
      return decode(before.slice(opening.length))
    },
    end: () => (isOpen ? '' : textOf(before)),
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
