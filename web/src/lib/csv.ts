import { CSV_HEAD, csvRow } from '../../../src/platform/lib/csv.ts'

export type CsvCell = string | number | null

/** A file for spreadsheets of Brazil, by the same rules as the server's exports. */
export function csvOf(head: readonly string[], rows: readonly (readonly CsvCell[])[]): Blob {
  const lines = [head, ...rows].map((row) => csvRow(row.map(fieldOf)))
  return new Blob([CSV_HEAD, ...lines], { type: 'text/csv;charset=utf-8' })
}

function fieldOf(cell: CsvCell) {
  return typeof cell === 'number' ? { decimal: decimalText(cell) } : cell
}

/** Without an exponent: 0.0000001, not 1e-7. */
function decimalText(value: number): string {
  const text = String(value)
  return text.includes('e') ? value.toFixed(12).replace(/0+$/, '').replace(/\.$/, '') : text
}
