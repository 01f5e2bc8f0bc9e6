/**
 * CSV as spreadsheets in Brazil open it: a byte-order mark, semicolons, decimal commas, and nothing that
 * a cell would run as a formula.
 */
export const CSV_HEAD = '\ufeff'

/** Text, a decimal number as text of digits and a point (`{ decimal: '1.5' }`), or nothing. */
export type CsvField = string | number | { readonly decimal: string } | null | undefined

/** One line with its end. */
export function csvRow(fields: readonly CsvField[]): string {
  return `${fields.map(csvField).join(';')}\r\n`
}

/** What spreadsheets take for the beginning of a formula (OWASP, "CSV injection"). */
const FORMULA = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/

function csvField(field: CsvField): string {
  if (field === null || field === undefined) return ''
  if (typeof field === 'number') return String(field)
  if (typeof field === 'object') return field.decimal.replace('.', ',')
  const text = FORMULA.test(field) ? `'${field}` : field
  return /[";\r\n']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
