/**
 * CSV for spreadsheet programs in Brazil: a byte-order mark, semicolons, decimal commas, and no cell that runs
 * as a formula.
 */
export const CSV_HEAD = '\ufeff'

/** A text, a number, a decimal number as text (`{ decimal: '1.5' }`), or an empty field. */
export type CsvField = string | number | bigint | { readonly decimal: string } | null | undefined

/** Writes a line, including its line end. */
export function csvRow(fields: readonly CsvField[]): string {
  return `${fields.map(csvField).join(';')}\r\n`
}

/**
 * The beginnings that spreadsheet programs take for a formula (OWASP, "CSV injection"): signs of any width,
 * also after invisible characters, which some programs drop before they look.
 */
const FORMULA = /^[\s\p{Cc}\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/u
/** Commas need quotes too: a program that splits at commas must not make the rest of the field a separate cell. */
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

/** A leading apostrophe turns a formula into text. */
function textField(field: string): string {
  const text = FORMULA.test(field) ? `'${field}` : field
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
