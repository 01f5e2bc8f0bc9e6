/**
 * The only way to open a PostgreSQL connection: the types of this project (int8 as bigint, date as text), durable
 * commits whatever the server's default, and time limits for everything.
 */
import pg from 'pg'
import { Kysely, PostgresDialect } from 'kysely'
import { readDatabaseAddress, type DatabaseAddress } from './database-address.ts'
import { DatabaseClient, type DatabaseClientConfig } from './database-client.ts'
import { FUNCTIONS_SCHEMA } from './functions.ts'
import type { Tables } from './tables.ts'

export type Database = Kysely<Tables>

export interface OpenDatabase {
  readonly db: Database
  readonly pool: pg.Pool
  readonly close: () => Promise<void>
}

const types: pg.CustomTypesConfig = {
  getTypeParser(oid, format) {
    if (format !== 'binary') {
      if (oid === pg.types.builtins.INT8) return BigInt
      if (oid === pg.types.builtins.DATE) return (text: string) => text
    }
    return pg.types.getTypeParser(oid, format)
  },
}

type Settings = Readonly<Record<string, string>>

/** The settings of every statement. `synchronous_commit` must not depend on the server's default. */
const SETTINGS: Settings = {
  synchronous_commit: 'on',
  timezone: 'UTC',
  search_path: `${FUNCTIONS_SCHEMA},public`,
  jit: 'off',
  lock_timeout: '3000',
  // A half-open connection must not keep its locks until the kernel's own time-outs, which take hours.
  idle_in_transaction_session_timeout: '15000',
}

/** The settings of every connection to the server itself; those of a pooler's connections are the operator's. */
const CONNECTION_SETTINGS: Settings = {
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '10000',
}

export function connectionConfig(databaseUrl: string, more: Settings = {}): DatabaseClientConfig {
  const address = readDatabaseAddress(databaseUrl)
  const settings = { ...SETTINGS, ...more }
  return {
    address,
    settings,
    connectionString: address.connectionString,
    types,
    ...optionsOf(address, settings),
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    application_name: 'catraca',
  }
}

/** A pooler refuses our settings here: the connection sets them for each transaction. */
function optionsOf(
  { isPooled, options }: DatabaseAddress,
  settings: Settings,
): { options?: string } {
  if (isPooled) return options === undefined ? {} : { options }
  const ours = writeOptions({ ...settings, ...CONNECTION_SETTINGS })
  return { options: options === undefined ? ours : `${options} ${ours}` }
}

function writeOptions(settings: Settings): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
}

/** A deadlock; and a concurrent change of a row in a transaction of one snapshot. */
const RETRYABLE: ReadonlySet<string> = new Set(['40P01', '40001'])
const ATTEMPTS_MAX = 3
export const POOL_MAX = 10

/** A pool for reads and for writes off the hot path. The server cancels statements after 10 s. */
export function openDatabase(
  databaseUrl: string,
  { onError }: { onError: (error: Error) => void },
): OpenDatabase {
  const config = connectionConfig(databaseUrl, { statement_timeout: '10000' })
  const pool = openPool(config, { max: POOL_MAX, onError })
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  return { db, pool, close: () => db.destroy() }
}

/** Opens a pool. Errors of idle connections are reported, not thrown: the next query reports the failure. */
export function openPool(
  config: DatabaseClientConfig,
  { max, onError }: { readonly max: number; onError: (error: Error) => void },
): pg.Pool {
  const pool = new pg.Pool({
    // The pool passes its configuration on.
    Client: DatabaseClient as unknown as new () => pg.Client,
    ...config,
    max,
    idleTimeoutMillis: 30_000,
  })
  // While the pool says goodbye, the database may end the same connections.
  pool.on('error', (error) => (pool.ending ? undefined : onError(error)))
  // A connection that breaks during a query reports it twice: the query fails, which is enough, and an event without a
  // listener would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/**
 * Runs the work inside the transaction `db`, or in a new one. A new transaction that loses a deadlock, or whose snapshot
 * is overtaken by a concurrent change, is run again, so the work must have no effects besides its statements.
 */
export async function inTransaction<Result>(
  db: Database,
  work: (trx: Database) => Promise<Result>,
): Promise<Result> {
  if (db.isTransaction) return work(db)
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction().execute(work)
    } catch (error) {
      const { code } = error as { code?: string }
      if (code === undefined || !RETRYABLE.has(code) || attempt >= ATTEMPTS_MAX) throw error
    }
  }
}

/** Returns whether a statement ended because it waited too long for a lock (`lock_not_available`). */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '55P03'
}
