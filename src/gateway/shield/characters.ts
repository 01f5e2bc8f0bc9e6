/** Tests of UTF-16 codes in folded text; a place outside of the text has the code NaN, which is none of these. */
export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

export function isAsciiLetter(code: number): boolean {
  const lower = code | 32
  return lower >= 97 && lower <= 122 && code < 128
}

/**
 * Whether a character is a letter of ASCII or an accented one of Latin scripts, also with its accents as characters of
 * their own.
 */
export function isLatinLetter(code: number): boolean {
  if (code < 128) return isAsciiLetter(code)
  if (code >= 0xc0 && code <= 0x24f) return code !== 0xd7 && code !== 0xf7
  return (code >= 0x300 && code <= 0x36f) || (code >= 0x1e00 && code <= 0x1eff)
}

export function isAsciiAlphanumeric(code: number): boolean {
  return isDigit(code) || isAsciiLetter(code)
}

/** `.`, `/`, `-`, `_` or a backslash. */
function isPunctuation(code: number): boolean {
  return (code >= 45 && code <= 47) || code === 95 || code === 92
}

/** Columns may stand beside or below one another. */
function isBlank(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13)
}

/**
 * Returns the place after a separator between two groups of a document: one punctuation character with at most one
 * space on each side, one or two spaces, or a comma with a digit behind it. The same place if there is none.
 */
export function skipSeparator(text: string, index: number): number {
  let end = index
  if (text.charCodeAt(end) === 44) return isDigit(text.charCodeAt(end + 1)) ? end + 1 : end
  if (isBlank(text.charCodeAt(end))) end += 1
  if (isPunctuation(text.charCodeAt(end))) end += 1
  if (end > index && isBlank(text.charCodeAt(end))) end += 1
  return end
}

/** Returns the place where the separator that ends before `place` begins: `skipSeparator` towards the beginning. */
export function skipSeparatorBack(text: string, index: number): number {
  let start = index
  if (isBlank(text.charCodeAt(start - 1))) start -= 1
  if (isPunctuation(text.charCodeAt(start - 1))) start -= 1
  if (start < index && isBlank(text.charCodeAt(start - 1))) start -= 1
  return start
}
