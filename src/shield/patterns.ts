/** Strings to replace, as a tree by their characters. ASCII letters match in either case. */
export interface Patterns {
  readonly next: Map<number, Patterns>
  replacement: string | undefined
}

export interface PatternMatch {
  readonly end: number
  readonly replacement: string
}

export function createPatterns(): Patterns {
  return { next: new Map(), replacement: undefined }
}

export function addPattern(patterns: Patterns, pattern: string, replacement: string): void {
  let node = patterns
  for (let place = 0; place < pattern.length; place += 1) {
    const code = toLower(pattern.charCodeAt(place))
    let next = node.next.get(code)
    if (next === undefined) {
      next = createPatterns()
      node.next.set(code, next)
    }
    node = next
  }
  node.replacement = replacement
}

/** `partial` if the text ends within a pattern. Expects that no pattern is a prefix of another one. */
export function matchPattern(
  patterns: Patterns,
  text: string,
  start: number,
): PatternMatch | 'partial' | undefined {
  let node = patterns
  for (let place = start; place < text.length; place += 1) {
    const next = node.next.get(toLower(text.charCodeAt(place)))
    if (next === undefined) return undefined
    if (next.replacement !== undefined) return { end: place + 1, replacement: next.replacement }
    node = next
  }
  return 'partial'
}

function toLower(code: number): number {
  return code >= 65 && code <= 90 ? code + 32 : code
}
