import { createJsonPlace } from './json-place.ts'
import {
  matchPattern,
  type Patterns,
  inJsonStrings,
  type Encoding,
  type Masked,
  type Placeholders,
} from './placeholders.ts'

export interface TextRestorer {
  /** Returns the text that is certain: all but a tail that may begin a placeholder, or half of a surrogate pair. */
  push(piece: string): string
  /** Returns the rest. */
  end(): string
}

/** Puts the values back into one text. Everything else stays as it is. */
export function restoreText(text: string, placeholders: Placeholders, encoding: Encoding): string {
  const restorer = createTextRestorer(placeholders, encoding)
  return restorer.push(text) + restorer.end()
}

/**
 * Puts the values back into one text that arrives in pieces, cut anywhere. Less than a placeholder is held back; each
 * text of an answer (a choice's content, the arguments of one tool call) needs a restorer of its own. Within JSON, also
 * of a text that only contains it, a value is escaped as often as the place asks for, and a number loses its quotes.
 */
export function createTextRestorer(placeholders: Placeholders, encoding: Encoding): TextRestorer {
  const patterns = placeholders.patterns()
  const starts = startsOf(patterns)
  const json = createJsonPlace()
  let held = ''

  /** Undefined for quotes that are no value's: those of a text, of a name, or of another depth. */
  function replace({ source, value, depth, quotedAt }: Masked): string | undefined {
    const at = json.depth()
    if (quotedAt === undefined) return at === depth ? source : inJsonStrings(value, at)
    const isAlone = encoding === 'json' && json.isAtBeginning()
    return at === quotedAt && (isAlone || json.isAtValue()) ? source : undefined
  }

  /** What may become a placeholder stays in `held`, unless it is the end of the text. */
  function restore(text: string, isEnd: boolean): string {
    let restored = ''
    let done = 0
    let read = 0
    let index = 0
    const readOn = (): void => {
      json.read(text, read, index)
      read = index
    }
    while (index < text.length) {
      const mayStart = starts[text.charCodeAt(index)] === 1
      const match = mayStart ? matchPattern(patterns, text, index) : undefined
      if (match === 'partial' && !isEnd) break
      if (match !== undefined) readOn()
      const replacement = typeof match === 'object' ? replace(match.value) : undefined
      if (typeof match === 'object' && replacement !== undefined) {
        restored += text.slice(done, index) + replacement
        index = match.end
        done = index
      } else index += 1
    }
    if (
      !isEnd &&
      index === text.length &&
      index > done &&
      isHighSurrogate(text.charCodeAt(index - 1))
    )
      index -= 1
    readOn()
    held = text.slice(index)
    return restored + text.slice(done, index)
  }

  return {
    push: (piece) => restore(held + piece, false),
    end: () => restore(held, true),
  }
}

/** By the character: 1 if a placeholder begins with it. All of them begin with ASCII. */
function startsOf(patterns: Patterns<Masked>): Uint8Array {
  const starts = new Uint8Array(128)
  for (const code of patterns.next.keys()) {
    starts[code] = 1
    starts[String.fromCharCode(code).toUpperCase().charCodeAt(0)] = 1
  }
  return starts
}

function isHighSurrogate(code: number): boolean {
  return (code & 0xfc00) === 0xd800
}
