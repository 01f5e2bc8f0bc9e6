import { sql } from 'kysely'
import type { Database } from '../../../src/platform/db/open.ts'

type Row = Readonly<Record<string, unknown>>

/** Columns that name the object to which a row belongs, the nearest first. */
const REFERENCES = [
  'customer_id',
  'api_key_id',
  'team_id',
  'user_id',
  'prompt_id',
  'refund_id',
  'top_up_id',
  'endpoint_id',
]
/** Columns by which somebody could name a row. */
const NAMES = ['id', 'request_id', 'message_id', 'token', 'processor_payment_id']

export interface RowsOf {
  /** Ids, tokens and the like of all rows that belong to the customer. */
  readonly names: ReadonlySet<string>
  /** Also of rows that are made later. */
  isOwn(row: Row, table: string): boolean
}

/** The rows of a customer, read from the tables themselves. */
export async function readRowsOf(db: Database, customerId: string): Promise<RowsOf> {
  const { email } = await db
    .selectFrom('customers')
    .select('email')
    .where('id', '=', customerId)
    .executeTakeFirstOrThrow()
  const names = new Set([customerId])

  function isOwn(row: Row, table: string): boolean {
    if (table === 'customers') return row.id === customerId
    if (table === 'sign_in_users') return row.email === email?.toLowerCase()
    const reference = REFERENCES.find((column) => typeof row[column] === 'string')
    return reference !== undefined && names.has(String(row[reference]))
  }

  const rows = await readAllRows(db)
  // A row may belong to one that comes later.
  for (let before = 0; before < names.size;) {
    before = names.size
    for (const { table, row } of rows)
      if (isOwn(row, table))
        for (const column of NAMES) if (typeof row[column] === 'string') names.add(row[column])
  }
  return { names, isOwn }
}

async function readAllRows(db: Database): Promise<{ table: string; row: Row }[]> {
  const { rows: tables } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`.execute(
    db,
  )
  const all: { table: string; row: Row }[] = []
  for (const { name } of tables) {
    const { rows } = await sql<{ row: Row }>`
      select to_jsonb(t) as row from ${sql.table(name)} t`.execute(db)
    all.push(...rows.map(({ row }) => ({ table: name, row })))
  }
  return all
}
