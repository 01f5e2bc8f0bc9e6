/**
 * CSV as spreadsheets in Brazil open it: a byte-order mark, semicolons, decimal commas, and nothing that
 * a cell would run as a formula.
 */
export const CSV_HEAD = '\ufeff'

/** Text, a number, a decimal number as text of digits and a point (`{ decimal: '1.5' }`), or nothing. */
export type CsvField = string | number | bigint | { readonly decimal: string } | null | undefined

/** One line with its end. */
export function csvRow(fields: readonly CsvField[]): string {
  return `${fields.map(csvField).join(';')}\r\n`
}

/**
 * What spreadsheets take for the beginning of a formula (OWASP, "CSV injection"): signs of any width, and
 * what cannot be seen before them, which some programs drop before they look.
 */
const FORMULA = /^[\s\p{Cc}\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/u
/** A comma too, for programs that split at it: the rest of the field must not become a cell of its own. */
const NEEDS_QUOTES = /[";,\t\r\n']|^\s|\s$/
const DECIMAL = /^-?\d+(\.\d+)?$/

function csvField(field: CsvField): string {
  if (typeof field === 'string') return textField(field)
  if (field === null || field === undefined) return ''
  if (typeof field === 'bigint') return field.toString()
  if (typeof field === 'number') return Number.isFinite(field) ? decimalField(String(field)) : ''
  return decimalField(field.decimal)
}

function decimalField(decimal: string): string {
  return DECIMAL.test(decimal) ? decimal.replace('.', ',') : textField(decimal)
}

/** An apostrophe before it makes a formula a text. */
function textField(field: string): string {
  const text = FORMULA.test(field) ? `'${field}` : field
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
