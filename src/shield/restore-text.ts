import { matchPattern, type Patterns } from './patterns.ts'
import type { Encoding, Placeholders } from './placeholders.ts'

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
 * text of an answer (a choice's content, the arguments of one tool call) needs a restorer of its own.
 */
export function createTextRestorer(placeholders: Placeholders, encoding: Encoding): TextRestorer {
  const patterns = placeholders.patternsFor(encoding)
  const starts = startsOf(patterns)
  let held = ''

  return {
    push(piece) {
      const text = held + piece
      let restored = ''
      let done = 0
      let place = 0
      while (place < text.length) {
        const mayStart = starts[text.charCodeAt(place)] === 1
        const match = mayStart ? matchPattern(patterns, text, place) : undefined
        if (match === 'partial') break
        if (match === undefined) {
          place += 1
          continue
        }
        restored += text.slice(done, place) + match.replacement
        place = match.end
        done = place
      }
      if (place === text.length && place > done && isHighSurrogate(text.charCodeAt(place - 1)))
        place -= 1
      held = text.slice(place)
      return restored + text.slice(done, place)
    },
    end() {
      const rest = held
      held = ''
      return rest
    },
  }
}

/** By the character: 1 if a placeholder begins with it. All of them begin with ASCII. */
function startsOf(patterns: Patterns): Uint8Array {
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
