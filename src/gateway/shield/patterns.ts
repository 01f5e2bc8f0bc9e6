/** Strings to replace, as a tree by their characters. ASCII letters match in either case. */
export interface Patterns<Value> {
  readonly next: Map<number, Patterns<Value>>
  value: Value | undefined
}

export interface PatternMatch<Value> {
  readonly end: number
  readonly value: Value
}

export function createPatterns<Value>(): Patterns<Value> {
  return { next: new Map(), value: undefined }
}

export function addPattern<Value>(patterns: Patterns<Value>, pattern: string, value: Value): void {
  let node = patterns
  for (let place = 0; place < pattern.length; place += 1) {
    const code = toLower(pattern.charCodeAt(place))
    let next = node.next.get(code)
    if (next === undefined) {
      next = createPatterns<Value>()
      node.next.set(code, next)
    }
    node = next
  }
  node.value = value
}

/** `partial` if the text ends within a pattern. Expects that no pattern is a prefix of another one. */
export function matchPattern<Value>(
  patterns: Patterns<Value>,
  text: string,
  start: number,
): PatternMatch<Value> | 'partial' | undefined {
  let node = patterns
  for (let place = start; place < text.length; place += 1) {
    const next = node.next.get(toLower(text.charCodeAt(place)))
    if (next === undefined) return undefined
    if (next.value !== undefined) return { end: place + 1, value: next.value }
    node = next
  }
  return 'partial'
}

function toLower(code: number): number {
  return code >= 65 && code <= 90 ? code + 32 : code
}
