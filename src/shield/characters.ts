/** Tests of UTF-16 codes in folded text; a place outside of the text has the code NaN, which is none of these. */
export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

export function isAsciiLetter(code: number): boolean {
  const lower = code | 32
  return lower >= 97 && lower <= 122 && code < 128
}

/** Letters of ASCII and the accented ones of Latin scripts. */
export function isLatinLetter(code: number): boolean {
  return isAsciiLetter(code) || (code >= 0xc0 && code <= 0x24f && code !== 0xd7 && code !== 0xf7)
}

export function isAsciiAlphanumeric(code: number): boolean {
  return isDigit(code) || isAsciiLetter(code)
}

/** `.`, `/`, `-` or `_`. */
function isPunctuation(code: number): boolean {
  return (code >= 45 && code <= 47) || code === 95
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9
}

/**
 * The place after a separator between two groups of a document: one punctuation character with at most one space on
 * each side, or one or two spaces. The same place if there is none.
 */
export function skipSeparator(text: string, place: number): number {
  let end = place
  if (isBlank(text.charCodeAt(end))) end += 1
  if (isPunctuation(text.charCodeAt(end))) end += 1
  if (end > place && isBlank(text.charCodeAt(end))) end += 1
  return end
}

/** `skipSeparator` towards the beginning: the place where the separator that ends before `place` begins. */
export function skipSeparatorBack(text: string, place: number): number {
  let start = place
  if (isBlank(text.charCodeAt(start - 1))) start -= 1
  if (isPunctuation(text.charCodeAt(start - 1))) start -= 1
  if (start < place && isBlank(text.charCodeAt(start - 1))) start -= 1
  return start
}
