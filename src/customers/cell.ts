/**
 * The cell that a database is (docs/cells.md). It stands in the secrets of keys that are made here, so that a balancer
 * routes a call without asking anybody.
 */
import { audited, type Actor } from '../platform/audit-log/audited.ts'
import type { Database } from '../platform/db/open.ts'

/** The names of cells, as the constraint of the table has them. */
const CELL = /^[0-9a-z]{1,8}$/

export type CellNamed =
  | { readonly kind: 'named'; readonly cell: string }
  | { readonly kind: 'invalid' }
  /** No server has started on this database yet. */
  | { readonly kind: 'not_installed' }
  /** For ever: keys with its name are in use, and balancers route by it. */
  | { readonly kind: 'has_other_name'; readonly cell: string }

/** Names the cell of this database. Repeating a name changes nothing. */
export function nameCell(db: Database, actor: Actor, cell: string): Promise<CellNamed> {
  return audited(db, actor, async (trx, record): Promise<CellNamed> => {
    if (!CELL.test(cell)) return { kind: 'invalid' }
    const row = await trx.selectFrom('installation').select('cell').forUpdate().executeTakeFirst()
    if (!row) return { kind: 'not_installed' }
    if (row.cell === cell) return { kind: 'named', cell }
    if (row.cell !== null) return { kind: 'has_other_name', cell: row.cell }
    await trx.updateTable('installation').set({ cell }).execute()
    const details = { cell }
    await record({ action: 'cell.named', customerId: null, subjectId: null, details })
    return { kind: 'named', cell }
  })
}

/** Returns the name of this database's cell; undefined if it has none. */
export async function findCell(db: Database): Promise<string | undefined> {
  const row = await db.selectFrom('installation').select('cell').executeTakeFirst()
  return row?.cell ?? undefined
}
