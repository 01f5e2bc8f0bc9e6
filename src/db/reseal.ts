/**
 * Exchanges the key that secrets are sealed with, beside running servers: row by row, each only as it was read, so
 * that a secret that is exchanged meanwhile stays the new one. Whatever ends it, the next run goes on.
 */
import { sql } from 'kysely'
import { seal, SealError, sealPrefix, unseal } from '../lib/seal.ts'
import type { Database } from './open.ts'

/** Everything that is sealed, each bound to the `id` of its row. A test looks for columns that are not here. */
export const SEALED_COLUMNS = [
  { table: 'webhook_endpoints', column: 'secret_sealed' },
  { table: 'payment_methods', column: 'token_sealed' },
  { table: 'sign_in_second_factors', column: 'secret_sealed' },
  { table: 'digest_keys', column: 'secret_sealed' },
] as const satisfies readonly { table: string; column: string }[]

type SealedColumn = (typeof SEALED_COLUMNS)[number]

export interface SealingKeys {
  readonly current: Buffer
  readonly previous?: Buffer | undefined
}

/** From the one to the other. */
export interface KeyChange extends SealingKeys {
  readonly previous: Buffer
}

export interface SealedCounts {
  readonly current: number
  readonly previous: number
  /** By a key that is not given, or damaged: nobody can open it. */
  readonly unknown: number
}

const BATCH = 200
/** Of `sealPrefix`. */
const PREFIX_BYTES = sql.lit(5)

/** Of all columns together. */
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

/** Returns how many secrets were sealed anew, and the ids of those that are damaged. */
export async function reseal(
  db: Database,
  keys: KeyChange,
): Promise<{ resealed: number; damaged: string[] }> {
  const done = { resealed: 0, damaged: [] as string[] }
  for (const column of SEALED_COLUMNS) {
    for (let after: string | undefined; ;) {
      const rows = await readBatch(db, column, keys.previous, after)
      for (const row of rows) {
        const outcome = await resealRow(db, column, keys, row)
        if (outcome === 'resealed') done.resealed += 1
        if (outcome === 'damaged') done.damaged.push(`${column.table} ${row.id}`)
      }
      if (rows.length < BATCH) break
      after = rows.at(-1)?.id
    }
  }
  return done
}

interface SealedRow {
  readonly id: string
  readonly sealed: Buffer
}

/** What rows come in meanwhile is sealed with the current key. */
async function readBatch(
  db: Database,
  { table, column }: SealedColumn,
  previous: Buffer,
  after = '00000000-0000-0000-0000-000000000000',
): Promise<SealedRow[]> {
  const { rows } = await sql<SealedRow>`
    select id, ${sql.ref(column)} as sealed from ${sql.table(table)}
    where id > ${after} and substring(${sql.ref(column)} from 1 for ${PREFIX_BYTES}) = ${sealPrefix(previous)}
    order by id limit ${BATCH}`.execute(db)
  return rows
}

async function resealRow(
  db: Database,
  { table, column }: SealedColumn,
  { current, previous }: KeyChange,
  { id, sealed }: SealedRow,
): Promise<'resealed' | 'damaged' | 'changed_meanwhile'> {
  let secret: Buffer
  try {
    secret = unseal(previous, id, sealed)
  } catch (error) {
    if (error instanceof SealError) return 'damaged'
    throw error
  }
  const { numAffectedRows } = await sql`
    update ${sql.table(table)} set ${sql.ref(column)} = ${seal(current, id, secret)}
    where id = ${id} and ${sql.ref(column)} = ${sealed}`.execute(db)
  return numAffectedRows === 1n ? 'resealed' : 'changed_meanwhile'
}
