/**
 * The one way to a PostgreSQL connection: types as this project reads them (int8 as bigint, date as
 * text), durable commits whatever the server's default, and time limits on everything.
 */
import pg from 'pg'
import { Kysely, PostgresDialect } from 'kysely'
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

/** What every connection sets for itself. `synchronous_commit` must not depend on the server's default. */
const SESSION_SETTINGS = [
  '-c synchronous_commit=on',
  '-c timezone=UTC',
  '-c jit=off',
  '-c lock_timeout=3000',
]

export function connectionConfig(
  databaseUrl: string,
  settings: readonly string[] = [],
): pg.ClientConfig {
  return {
    connectionString: databaseUrl,
    types,
    options: [...SESSION_SETTINGS, ...settings].join(' '),
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    application_name: 'catraca',
  }
}

/**
 * A pool for reads and for writes off the hot path. Statements over 10 s are ended by the server.
 * Errors of idle connections are logged, not thrown: the next query reports what matters.
 */
export function openDatabase(
  databaseUrl: string,
  options: { onError: (error: Error) => void },
): OpenDatabase {
  const pool = new pg.Pool({
    ...connectionConfig(databaseUrl, ['-c statement_timeout=10000']),
    max: 10,
    idleTimeoutMillis: 30_000,
  })
  pool.on('error', options.onError)
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  return { db, pool, close: () => db.destroy() }
}

/** In the transaction that `db` is, or in one of its own. */
export function inTransaction<Result>(
  db: Database,
  work: (trx: Database) => Promise<Result>,
): Promise<Result> {
  return db.isTransaction ? work(db) : db.transaction().execute(work)
}
