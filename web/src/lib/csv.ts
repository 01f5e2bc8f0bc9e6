/** A CSV that spreadsheets of Brazil open: semicolons, decimal commas, and a byte-order mark for the accents. */
export type CsvCell = string | number | null

export function csvOf(head: readonly string[], rows: readonly (readonly CsvCell[])[]): Blob {
  const lines = [head, ...rows].map((row) => row.map(cellText).join(';'))
  return new Blob([`\uFEFF${lines.join('\r\n')}\r\n`], { type: 'text/csv;charset=utf-8' })
}

function cellText(cell: CsvCell): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return decimalText(cell).replace('.', ',')
  // A spreadsheet would run a name that begins like a formula.
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell
  return /[";\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Without an exponent: 0.0000001, not 1e-7. */
function decimalText(value: number): string {
  const text = String(value)
  return text.includes('e') ? value.toFixed(12).replace(/0+$/, '').replace(/\.$/, '') : text
}
