/**
 * Work that waits in the rows of a table, for any number of workers on any number of nodes. There are two ways to take
 * a row, and both give it to one worker at a time:
 *
 * - `lockDue`, for work that consists of statements only: they run in the transaction that locks the row. A worker that
 *   dies leaves the row unchanged.
 * - `claimDue`, for work that reaches beyond the database: one statement postpones the row's due time before the work
 *   begins, and no lock is held meanwhile. If a worker dies, the row is due again when this lease ends, so the work may
 *   be done twice, and must tolerate that. A worker that returns after its lease records nothing once another one has
 *   claimed the row (`recordClaimed`).
 */
import { sql, type RawBuilder } from 'kysely'
import type { Database } from './open.ts'

export interface DueRows {
  readonly table: string
  /** The columns of the table's primary key. */
  readonly key: readonly string[]
  /** A join to the row, which these statements call `q`. */
  readonly join?: RawBuilder<unknown>
  readonly isDue: RawBuilder<unknown>
  readonly orderBy: RawBuilder<unknown>
}

export interface ClaimableRows extends DueRows {
  /** The assignments of a claim: the time at which the row is due again, and `tries` if they are counted. */
  readonly lease: RawBuilder<unknown>
  /** The columns to return, of the claimed row `q` and the tables joined to it; by default every column of `q`. */
  readonly columns?: RawBuilder<unknown>
  readonly columnsFrom?: RawBuilder<unknown>
}

/** Locks the first due row that no other worker has locked, until the end of the transaction `trx`. */
export async function lockDue<Row>(trx: Database, due: DueRows): Promise<Row | undefined> {
  if (!trx.isTransaction) throw new Error('a lock outside of a transaction is over at once')
  const { rows } = await sql<Row>`${selectDue(due, sql`q.*`, 1)}`.execute(trx)
  return rows[0]
}

/** Claims at most `limit` due rows, the first ones that no other worker is claiming. */
export async function claimDue<Row>(
  db: Database,
  due: ClaimableRows,
  limit: number,
): Promise<Row[]> {
  const keyOf = (alias: string): RawBuilder<unknown> =>
    sql.join(due.key.map((column) => sql.ref(`${alias}.${column}`)))
  const { rows } = await sql<Row>`
    with due as (${selectDue(due, keyOf('q'), limit)}),
    claimed as (
      update ${sql.table(due.table)} q set ${due.lease}
      from due where (${keyOf('q')}) = (${keyOf('due')}) returning q.*)
    select ${due.columns ?? sql`q.*`} from claimed q ${due.columnsFrom ?? sql``}`.execute(db)
  return rows
}

/**
 * Records the outcome of a claimed row, given by its key and its `tries`. Returns false and writes nothing if another
 * worker has claimed the row meanwhile, or if the row does not match `where`.
 */
export async function recordClaimed(
  db: Database,
  { table, key }: Pick<DueRows, 'table' | 'key'>,
  row: { readonly tries: number },
  outcome: { readonly set: RawBuilder<unknown>; readonly where?: RawBuilder<unknown> },
): Promise<boolean> {
  const values = row as unknown as Readonly<Record<string, unknown>>
  const isRow = key.map((column) => sql`${sql.ref(`q.${column}`)} = ${values[column]}`)
  const { numAffectedRows } = await sql`
    update ${sql.table(table)} q set ${outcome.set}
    where ${sql.join(isRow, sql` and `)} and q.tries = ${row.tries}
      and (${outcome.where ?? sql`true`})`.execute(db)
  return numAffectedRows === 1n
}

function selectDue(
  { table, join, isDue, orderBy }: DueRows,
  columns: RawBuilder<unknown>,
  limit: number,
): RawBuilder<unknown> {
  return sql`
    select ${columns} from ${sql.table(table)} q ${join ?? sql``}
    where ${isDue} order by ${orderBy} limit ${limit}::int4 for no key update of q skip locked`
}
