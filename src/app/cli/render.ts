import type { CommandResult } from './command.ts'

/** Text for a terminal, with aligned columns. */
export function render({ text }: CommandResult): string {
  if (typeof text === 'string') return `${text}\n`
  const rows = [text.columns, ...text.rows]
  const widths = text.columns.map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  )
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return `${lines.join('\n')}\n`
}
