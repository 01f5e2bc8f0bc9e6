import type { Mode } from './chat-request.ts'
import type { Results, Row } from './results.ts'
import type { TargetName } from './target.ts'

export function findRow(
  results: Results,
  target: TargetName,
  cell: { readonly mode: Mode; readonly connections: number },
): Row | undefined {
  return results.rows.find(
    (row) =>
      row.target === target && row.mode === cell.mode && row.connections === cell.connections,
  )
}
