/** Adds the usual punctuation to typed text. A mask accepts any text and can be applied repeatedly. */
export type Mask = (text: string) => string

/**
 * A CPF up to eleven digits; a letter or a twelfth character makes it a CNPJ, which may have letters since
 * 2026.
 */
export const maskTaxId: Mask = (text) => {
  const bare = text
    .toUpperCase()
    .replaceAll(/[^0-9A-Z]/g, '')
    .slice(0, 14)
  return /^\d{0,11}$/.test(bare)
    ? punctuate(bare, [3, '.', 3, '.', 3, '-', 2])
    : punctuate(bare, [2, '.', 3, '.', 3, '/', 4, '-', 2])
}

export const maskPostalCode: Mask = (text) => punctuate(digitsOf(text).slice(0, 8), [5, '-', 3])

/** Foreign numbers begin with `+` and stay as they are. */
export const maskPhone: Mask = (text) => {
  if (text.trimStart().startsWith('+')) return text
  const digits = digitsOf(text).slice(0, 11)
  if (digits.length <= 2) return digits
  const local = digits.slice(2)
  const head = local.length > 8 ? 5 : 4
  return `(${digits.slice(0, 2)}) ${punctuate(local, [head, '-', 4])}`
}

export const maskCardNumber: Mask = (text) =>
  digitsOf(text)
    .slice(0, 19)
    .replaceAll(/(\d{4})(?=\d)/g, '$1 ')

export const maskExpiry: Mask = (text) => punctuate(digitsOf(text).slice(0, 4), [2, '/', 2])

function digitsOf(text: string): string {
  return text.replaceAll(/\D/g, '')
}

/**
 * Splits the text into groups of the given lengths and puts the given separators between them; no separator
 * follows the last character.
 */
function punctuate(text: string, form: readonly (number | string)[]): string {
  let rest = text
  let written = ''
  let between = ''
  for (const part of form) {
    if (typeof part === 'string') between = part
    else {
      if (rest === '') break
      written += between + rest.slice(0, part)
      rest = rest.slice(part)
    }
  }
  return written
}
