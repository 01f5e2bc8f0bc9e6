/**
 * Changes the key that seals secrets while servers run. Each row is written only if it has not changed since it was
 * read, so a secret that is replaced meanwhile stays. The next run continues an interrupted one.
 */
import { sql } from 'kysely'
import { seal, SealError, sealPrefix, unseal } from '../lib/seal.ts'
import type { Database } from './open.ts'

/** All sealed columns, each value bound to the `id` of its row. A test looks for columns that are missing here. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: 'webhook_endpoints', column: 'secret_sealed' },
  { table: 'usage_destinations', column: 'secret_sealed' },
  { table: 'payment_methods', column: 'token_sealed' },
  { table: 'sign_in_second_factors', column: 'secret_sealed' },
  { table: 'digest_keys', column: 'secret_sealed' },
  { table: 'upstreams', column: 'key_sealed' },
  { table: 'idempotency_keys', column: 'content_sealed', batch: 50 },
  { table: 'batch_lines', column: 'input_sealed', batch: 10 },
  { table: 'batch_lines', column: 'result_sealed', batch: 10 },
  { table: 'file_parts', column: 'sealed', batch: 10 },
  { table: 'stored_responses', column: 'input_sealed', batch: 10 },
  { table: 'stored_responses', column: 'response_sealed', batch: 10 },
]

interface SealedColumn {
  readonly table: string
  readonly column: string
  /** Rows that are resealed together; their values are in memory meanwhile. */
  readonly batch?: number
}

export interface SealingKeys {
  readonly current: Buffer
  readonly previous?: Buffer | undefined
}

/** The old key and the new one. */
export interface KeyChange extends SealingKeys {
  readonly previous: Buffer
}

export interface SealedCounts {
  readonly current: number
  readonly previous: number
  /** Sealed by an unknown key, or damaged: it cannot be opened. */
  readonly unknown: number
}

const BATCH = 200
/** The length of the prefix that `sealPrefix` adds. */
const PREFIX_BYTES = sql.lit(5)

/** Returns the sums over all columns. */
export async function countSealed(
  db: Database,
  { current, previous }: SealingKeys,
): Promise<SealedCounts> {
  const sums = { current: 0, previous: 0, unknown: 0 }
  for (const { table, column } of SEALED_COLUMNS) {
    const { rows } = await sql<{ prefix: Buffer; count: bigint }>`
      select substring(${sql.ref(column)} from 1 for ${PREFIX_BYTES}) as prefix, count(*) as count
      from ${sql.table(table)} where ${sql.ref(column)} is not null group by 1`.execute(db)
    for (const { prefix, count } of rows) {
      const isCurrent = prefix.equals(sealPrefix(current))
      const isPrevious = previous !== undefined && prefix.equals(sealPrefix(previous))
      sums[isCurrent ? 'current' : isPrevious ? 'previous' : 'unknown'] += Number(count)
    }
  }
  return sums
}

/** Seals the secrets of one column with the current key, in memory. */
export interface ResealedBatch {
  readonly column: SealedColumn
  readonly rows: readonly {
    readonly id: string
    /** The value that was read. */
    readonly former: Buffer
    readonly sealed: Buffer
  }[]
  /** The table and the id of each secret that cannot be opened. */
  readonly damaged: readonly string[]
}

/** Rows that are added meanwhile are sealed with the current key already. */
export async function* readResealed(db: Database, keys: KeyChange): AsyncGenerator<ResealedBatch> {
  for (const column of SEALED_COLUMNS) {
    for (let after: string | undefined; ;) {
      const rows = await readBatch(db, column, keys.previous, after)
      yield resealBatch(column, keys, rows)
      if (rows.length < (column.batch ?? BATCH)) break
      after = rows.at(-1)?.id
    }
  }
}

/**
 * Returns the number of written rows; a row that changed since it was read is not written. One statement locks and
 * writes them all, in the order of their ids, so that concurrent runs wait for each other and no secret is locked while
 * others are sealed.
 */
export async function writeResealed(
  trx: Database,
  { column: { table, column }, rows }: ResealedBatch,
): Promise<number> {
  if (rows.length === 0) return 0
  const ids = rows.map(({ id }) => id)
  const former = rows.map((row) => row.former)
  const sealed = rows.map((row) => row.sealed)
  const target = sql.table(table)
  const value = sql.ref(column)
  const { numAffectedRows } = await sql`
    with resealed as (
      select * from unnest(${ids}::uuid[], ${former}::bytea[], ${sealed}::bytea[]) as r(id, former, sealed)
    ), unchanged as (
      select t.id, r.sealed from ${target} t join resealed r on r.id = t.id
      where t.${value} = r.former order by t.id for no key update of t
    )
    update ${target} t set ${value} = u.sealed from unchanged u where t.id = u.id`.execute(trx)
  return Number(numAffectedRows)
}

interface SealedRow {
  readonly id: string
  readonly sealed: Buffer
}

async function readBatch(
  db: Database,
  { table, column, batch = BATCH }: SealedColumn,
  previous: Buffer,
  after = '00000000-0000-0000-0000-000000000000',
): Promise<SealedRow[]> {
  const { rows } = await sql<SealedRow>`
    select id, ${sql.ref(column)} as sealed from ${sql.table(table)}
    where id > ${after} and substring(${sql.ref(column)} from 1 for ${PREFIX_BYTES}) = ${sealPrefix(previous)}
    order by id limit ${batch}`.execute(db)
  return rows
}

function resealBatch(
  column: SealedColumn,
  { current, previous }: KeyChange,
  read: readonly SealedRow[],
): ResealedBatch {
  const rows: ResealedBatch['rows'][number][] = []
  const damaged: string[] = []
  for (const { id, sealed: former } of read) {
    try {
      rows.push({ id, former, sealed: seal(current, id, unseal(previous, id, former)) })
    } catch (error) {
      if (!(error instanceof SealError)) throw error
      damaged.push(`${column.table} ${id}`)
    }
  }
  return { column, rows, damaged }
}
