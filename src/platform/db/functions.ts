/**
 * The SQL functions, their types and the triggers. Their text lives once, in the `sql` folder of the room that calls
 * them. Each set of texts has a separate schema, named by its checksum: a node calls exactly the functions that it was
 * shipped with, and other releases on the same database do not change them.
 */
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'

const SRC = join(import.meta.dirname, '../..')
/** The current set, the previous one for nodes that are still to be replaced, and one for a rollback. */
const SETS_KEPT = 3
/**
 * `create trigger` waits for the writers of its table, and later writers wait behind it. A call waits for about 2 s
 * (`RETRIES_MAX` in `money/ledger/lane/lane.ts`) before it is refused. Longer than the second after which PostgreSQL cancels an
 * autovacuum that blocks the table.
 */
const LOCK_TIMEOUT_MS = 1_200
const DEADLOCK = '40P01'
const LOCK_NOT_AVAILABLE = '55P03'
const GIVE_UP_MS = 60_000
/** A pause in which the calls that wait for the lock can run. */
const PAUSE_MS = 500

export interface FunctionFile {
  /** Relative to `src`. */
  readonly path: string
  readonly text: string
}

export interface FunctionSet {
  readonly schema: string
  readonly files: readonly FunctionFile[]
}

/**
 * Types come before the functions that use them, and the triggers of `accounts` last: every call writes that table, and
 * it stays locked until the commit.
 */
function readFunctionFiles(): FunctionFile[] {
  const rank = ({ path, text }: FunctionFile): number =>
    path.endsWith('types.sql') ? 0 : /\btrigger\b[^;]* on accounts\b/.test(text) ? 2 : 1
  return globSync('**/sql/*.sql', { cwd: SRC })
    .map((path) => ({ path, text: readFileSync(join(SRC, path), 'utf8') }))
    .toSorted((one, other) => rank(one) - rank(other) || (one.path < other.path ? -1 : 1))
}

export const functionFiles: readonly FunctionFile[] = readFunctionFiles()

export function nameFunctionSet(files: readonly FunctionFile[]): FunctionSet {
  const hash = createHash('sha256')
  for (const { path, text } of files) hash.update(`${path}\n${text}\n`)
  return { schema: `functions_${hash.digest('hex').slice(0, 12)}`, files }
}

const ownSet = nameFunctionSet(functionFiles)

/** The schema of this release's functions. Every connection finds them by its `search_path`. */
export const FUNCTIONS_SCHEMA = ownSet.schema

/**
 * Creates this release's functions, unless they exist, and points the triggers to them, in one transaction. A release
 * that starts again finds its set and creates nothing, so an old node that restarts during an upgrade does not point the
 * triggers back. Returns whether it created the set.
 */
export async function createFunctions(client: pg.Client, set = ownSet): Promise<boolean> {
  for (const giveUpAt = Date.now() + GIVE_UP_MS; ; await sleep(PAUSE_MS)) {
    await client.query('begin')
    try {
      const isNew = await createMissing(client, set)
      await client.query('commit')
      return isNew
    } catch (error) {
      await client.query('rollback')
      if (!isLockConflict(error) || Date.now() > giveUpAt)
        throw new Error('the SQL functions could not be created', { cause: error })
    }
  }
}

/** Another transaction held a lock; this one is rolled back and can be repeated. */
function isLockConflict(error: unknown): boolean {
  const { code, cause } = error as { code?: string; cause?: unknown }
  if (code === DEADLOCK || code === LOCK_NOT_AVAILABLE) return true
  return cause !== undefined && isLockConflict(cause)
}

async function createMissing(client: pg.Client, { schema, files }: FunctionSet): Promise<boolean> {
  // When several nodes start at once, one creates the set and the others wait for it.
  await client.query(`select pg_advisory_xact_lock(hashtextextended('function_sets', 0))`)
  const { rows } = await client.query<{ is_new: boolean }>(
    `insert into function_sets (schema_name) values ($1)
    on conflict (schema_name) do update set started_at = excluded.started_at
    returning xmax = 0 or to_regnamespace(schema_name) is null as is_new`,
    [schema],
  )
  if (!rows[0]?.is_new) return false
  await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`)
  // A partial restore (`pg_dump -n public`) leaves rows without schemas, or schemas without rows.
  await client.query(`drop schema if exists ${schema} cascade`)
  await client.query(`create schema ${schema}`)
  await client.query(`set local search_path = ${schema}, public`)
  for (const { path, text } of files) {
    try {
      await client.query(text)
    } catch (error) {
      throw new Error(`src/${path} failed`, { cause: error })
    }
  }
  await dropOldSets(client)
  return true
}

/**
 * Drops sets by the last start of a node that uses them, not by their age: after a rollback, nodes call an old set,
 * which must stay. A set that a node called within a day also stays, even if the node is silent: it may return.
 */
async function dropOldSets(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ schema_name: string }>(
    `select schema_name from (select schema_name from function_sets order by started_at desc offset $1) old
    where schema_name not in (
      select functions_schema from nodes
      where stopped_at is null and seen_at > clock_timestamp() - interval '1 day')`,
    [SETS_KEPT],
  )
  for (const { schema_name: name } of rows) {
    await client.query(`drop schema if exists ${client.escapeIdentifier(name)} cascade`)
    await client.query('delete from function_sets where schema_name = $1', [name])
  }
}
