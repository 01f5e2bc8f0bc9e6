/** Finds the end of a JSON object in text that arrives in pieces, without reading any character twice. */
export interface JsonEnd {
  add(text: string): void
  /** Every bracket that was opened is closed, and there was at least one. */
  readonly isWhole: boolean
}

export function createJsonEnd(): JsonEnd {
  let depth = 0
  let hasBegun = false
  let isInString = false
  let isEscaped = false

  function read(character: string): void {
    if (isInString) {
      if (isEscaped) isEscaped = false
      else if (character === '\\') isEscaped = true
      else if (character === '"') isInString = false
      return
    }
    if (character === '"') isInString = true
    else if (character === '{' || character === '[') {
      depth += 1
      hasBegun = true
    } else if (character === '}' || character === ']') depth -= 1
  }

  return {
    add(text) {
      for (let at = 0; at < text.length; at++) read(text.charAt(at))
    },
    get isWhole() {
      return hasBegun && depth <= 0
    },
  }
}
