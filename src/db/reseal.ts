/**
 * Changes the key that seals secrets, beside running servers. Each row is written only if it is still as it was read, so
 * a secret that is replaced meanwhile stays. An interrupted run is continued by the next one.
 */
import { sql } from 'kysely'
import { seal, SealError, sealPrefix, unseal } from '../lib/seal.ts'
import type { Database } from './open.ts'

/** All sealed columns, each value bound to the `id` of its row. A test looks for columns that are missing here. */
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
/** Of `sealPrefix`. */
const PREFIX_BYTES = sql.lit(5)

/** The sums over all columns. */
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

/** Returns the number of resealed secrets, and the ids of the damaged ones. */
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

/** Rows that are added meanwhile are sealed with the current key. */
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
