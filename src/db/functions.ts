/**
 * The SQL functions, their types and the triggers. Their text lives once, in the `sql` folder of the room that calls
 * them. Each set of texts has a schema of its own, named by its checksum: a node calls exactly the functions that it was
 * shipped with, whatever other releases run beside it on the same database.
 */
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'

const SRC = join(import.meta.dirname, '..')
/** The current set, the previous one for nodes that are still to be replaced, and one for a rollback. */
const SETS_KEPT = 3
const DEADLOCK = '40P01'
const TRIES = 3

interface FunctionFile {
  /** Relative to `src`. */
  readonly path: string
  readonly text: string
}

/** Types come before the functions that take them. */
function readFunctionFiles(): FunctionFile[] {
  const rank = (path: string): number => (path.endsWith('types.sql') ? 0 : 1)
  return globSync('*/sql/*.sql', { cwd: SRC })
    .toSorted((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1))
    .map((path) => ({ path, text: readFileSync(join(SRC, path), 'utf8') }))
}

export const functionFiles: readonly FunctionFile[] = readFunctionFiles()

function nameSchema(): string {
  const hash = createHash('sha256')
  for (const { path, text } of functionFiles) hash.update(`${path}\n${text}\n`)
  return `functions_${hash.digest('hex').slice(0, 12)}`
}

/** The schema of this release's functions. Every connection finds them by its `search_path`. */
export const FUNCTIONS_SCHEMA = nameSchema()

/**
 * Creates this release's functions, unless they exist, and points the triggers to them, in one transaction. A release
 * that starts again finds its set and changes nothing, so an old node that restarts during an upgrade does not point the
 * triggers back.
 */
export async function createFunctions(client: pg.Client): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    await client.query('begin')
    try {
      const isNew = await createMissing(client)
      await client.query('commit')
      return isNew
    } catch (error) {
      await client.query('rollback')
      // Triggers lock their tables, beside nodes that use them.
      if ((error as { code?: string }).code !== DEADLOCK || tries >= TRIES)
        throw new Error('the SQL functions could not be created', { cause: error })
    }
  }
}

async function createMissing(client: pg.Client): Promise<boolean> {
  await client.query(`select pg_advisory_xact_lock(hashtextextended('function_sets', 0))`)
  const { rowCount } = await client.query(
    'insert into function_sets (schema_name) values ($1) on conflict do nothing',
    [FUNCTIONS_SCHEMA],
  )
  if (!rowCount) return false
  await client.query(`create schema ${FUNCTIONS_SCHEMA}`)
  await client.query(`set local search_path = ${FUNCTIONS_SCHEMA}, public`)
  for (const { path, text } of functionFiles) {
    try {
      await client.query(text)
    } catch (error) {
      throw new Error(`src/${path} failed`, { cause: error })
    }
  }
  await dropOldSets(client)
  return true
}

async function dropOldSets(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ schema_name: string }>(
    'select schema_name from function_sets order by created_at desc offset $1',
    [SETS_KEPT],
  )
  for (const { schema_name: name } of rows) {
    await client.query(`drop schema if exists ${client.escapeIdentifier(name)} cascade`)
    await client.query('delete from function_sets where schema_name = $1', [name])
  }
}
