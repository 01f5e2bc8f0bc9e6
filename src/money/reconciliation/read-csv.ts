/** Reads CSV (RFC 4180) with commas or semicolons, quotes, and an optional byte-order mark. */
export type ReadCsv =
  | { readonly kind: 'records'; readonly records: readonly CsvRecord[]; readonly columns: string[] }
  | { readonly kind: 'fault'; readonly detail: string }

export interface CsvRecord {
  /** The line number in the file; the header is line 1. */
  readonly line: number
  /** Trimmed cells by column name in lower case; '' for a column that the line lacks. */
  readonly fields: Readonly<Record<string, string>>
}

export function readCsv(text: string): ReadCsv {
  const plain = text.replace(/^\ufeff/, '')
  const [head = ''] = plain.split(/\r?\n/, 1)
  const separator = head.includes(';') && !head.includes(',') ? ';' : ','
  const lines = splitLines(plain, separator)
  if (!lines) return { kind: 'fault', detail: 'a quotation mark is never closed' }
  const [first, ...rest] = lines
  const columns = (first?.cells ?? []).map((name) => name.trim().toLowerCase())
  if (new Set(columns).size < columns.length)
    return { kind: 'fault', detail: 'two columns have the same name' }
  const records = rest
    .filter(({ cells }) => cells.some((cell) => cell.trim() !== ''))
    .map(({ line, cells }) => ({
      line,
      fields: Object.fromEntries(columns.map((name, at) => [name, (cells[at] ?? '').trim()])),
    }))
  return { kind: 'records', records, columns }
}

interface Line {
  readonly line: number
  readonly cells: string[]
}

/** Returns undefined if a quotation mark is still open at the end. */
function splitLines(text: string, separator: string): Line[] | undefined {
  const lines: Line[] = []
  let cells: string[] = []
  let cell = ''
  let isQuoted = false
  let line = 1
  let start = 1
  const endCell = (): void => {
    cells.push(cell)
    cell = ''
  }
  const endLine = (): void => {
    endCell()
    lines.push({ line: start, cells })
    cells = []
  }
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string
    if (character === '\n') line += 1
    if (isQuoted) {
      if (character !== '"') cell += character
      else if (text[at + 1] === '"') cell += text[++at]
      else isQuoted = false
    } else if (character === '"' && cell.trim() === '') {
      isQuoted = true
      cell = ''
    } else if (character === separator) endCell()
    else if (character === '\n') {
      endLine()
      start = line
    } else if (character !== '\r') cell += character
  }
  if (isQuoted) return undefined
  if (cell !== '' || cells.length > 0) endLine()
  return lines
}
