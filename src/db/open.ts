/**
 * The only way to open a PostgreSQL connection: the types of this project (int8 as bigint, date as text), durable
 * commits whatever the server's default, and time limits for everything.
 */
import pg from 'pg'
import { Kysely, PostgresDialect } from 'kysely'
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

/** The settings of every connection. `synchronous_commit` must not depend on the server's default. */
const SESSION_SETTINGS = [
  '-c synchronous_commit=on',
  '-c timezone=UTC',
  `-c search_path=${FUNCTIONS_SCHEMA},public`,
  '-c jit=off',
  '-c lock_timeout=3000',
  // A half-open connection must not keep its locks until the kernel's own time-outs, which take hours.
  '-c idle_in_transaction_session_timeout=15000',
  '-c tcp_keepalives_idle=5',
  '-c tcp_keepalives_interval=2',
  '-c tcp_keepalives_count=3',
  '-c tcp_user_timeout=10000',
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
    keepAliveInitialDelayMillis: 5_000,
    application_name: 'catraca',
  }
}

/** A deadlock; and a concurrent change of a row in a transaction of one snapshot. */
const RETRYABLE: ReadonlySet<string> = new Set(['40P01', '40001'])
const ATTEMPTS_MAX = 3

type Query = (
  config: unknown,
  values?: unknown,
  callback?: (error: Error | null, result: unknown) => void,
) => unknown

/**
 * `pg`'s own query promises keep the rows of one query reachable from the next, so V8 moves every row that was ever
 * read to the old generation (measured: 1.5 KB a row, and half of the time of long reads). A promise around its
 * callbacks does not.
 */
class QueriedByCallback extends pg.Client {
  override query = ((config: unknown, values?: unknown, callback?: unknown): unknown => {
    const query = pg.Client.prototype.query.bind(this) as Query
    const isPlain =
      typeof config === 'string' || typeof (config as pg.Submittable).submit !== 'function'
    if (!isPlain || typeof values === 'function' || callback !== undefined)
      return query(config, values, callback as never)
    return new Promise((resolve, reject) => {
      query(config, values, (error, result) => (error ? reject(error) : resolve(result)))
    })
  }) as pg.Client['query']
}

/**
 * A pool for reads and for writes off the hot path. The server cancels statements after 10 s. Errors of idle
 * connections are logged, not thrown: the next query reports the failure.
 */
export function openDatabase(
  databaseUrl: string,
  options: { onError: (error: Error) => void },
): OpenDatabase {
  const pool = new pg.Pool({
    Client: QueriedByCallback,
    ...connectionConfig(databaseUrl, ['-c statement_timeout=10000']),
    max: 10,
    idleTimeoutMillis: 30_000,
  })
  let isClosing = false
  // While the pool says goodbye, the database may end the same connections.
  pool.on('error', (error) => (isClosing ? undefined : options.onError(error)))
  // A connection that breaks during a query reports it twice: the query fails, which is enough, and an event without a
  // listener would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  const close = (): Promise<void> => {
    isClosing = true
    return db.destroy()
  }
  return { db, pool, close }
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

/** Ends a connection at once: a graceful close would wait for ever on a broken or frozen one. */
export function destroyClient(client: pg.Client): void {
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } }
  connection.stream.destroy()
}
