import type { Key, ReactNode } from 'react'
import { classNames } from '../lib/class-names.ts'

export interface Column<Row> {
  readonly key: string
  readonly header: ReactNode
  readonly cell: (row: Row) => ReactNode
  /** Aligned right, in figures of equal width. */
  readonly isNumeric?: boolean
  /** Hidden on phones, where the first columns matter most. */
  readonly isSecondary?: boolean
}

interface TableProps<Row> {
  /** For screen readers only. */
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => Key
}

export function Table<Row>({ caption, columns, rows, rowKey }: TableProps<Row>) {
  return (
    // Focusable, so that a row wider than the screen scrolls by keyboard.
    <div
      className="relative -mx-2 overflow-x-auto px-2"
      role="region"
      aria-label={caption}
      tabIndex={0}
    >
      <table className="w-full border-collapse text-sm">
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr className="border-b border-line text-left text-muted">
            {columns.map((column) => (
              <th
                key={column.key}
                scope="col"
                className={classNames(
                  'px-2 py-2.5 font-medium whitespace-nowrap',
                  cellClass(column),
                )}
              >
                {column.header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)} className="border-b border-line last:border-0">
              {columns.map((column) => (
                <td key={column.key} className={classNames('px-2 py-3', cellClass(column))}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function cellClass<Row>({ isNumeric, isSecondary }: Column<Row>): string {
  return classNames(isNumeric && 'text-right tabular-nums', isSecondary && 'hidden md:table-cell')
}
