/** The names of the tests that a file has, for pages that point to them. */

/** Tests that stand on a line of their own; those that are commented out or skipped are none. */
const TEST_CALL = /^[ \t]*(?:await |return )?(?:t\.)?(?:test|it)\(\s*(?=['"`])/gm

export function testNames(source: string): Set<string> {
  return new Set(
    Array.from(source.matchAll(TEST_CALL), ({ 0: call, index }) =>
      readLiteral(source, index + call.length),
    ),
  )
}

/** The text of the literal that begins here, with `…` for what a template puts in. */
function readLiteral(source: string, start: number): string {
  const quote = source[start]
  let text = ''
  for (let at = start + 1; at < source.length && source[at] !== quote; at++) {
    if (source[at] === '\\') {
      at += 1
      text += source[at]
    } else if (quote === '`' && source.startsWith('${', at)) {
      at = endOfValue(source, at + 2)
      text += '…'
    } else {
      text += source[at]
    }
  }
  return text.replaceAll(/…+/g, '…')
}

/** Where the brace closes that was open before `start`. */
function endOfValue(source: string, start: number): number {
  let depth = 1
  for (let at = start; at < source.length; at++) {
    if (source[at] === '{') depth += 1
    if (source[at] === '}') depth -= 1
    if (depth === 0) return at
  }
  return source.length
}
