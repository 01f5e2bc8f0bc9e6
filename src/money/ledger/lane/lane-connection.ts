import pg from 'pg'
import { serialize } from 'pg-protocol'
import { DatabaseClient } from '../../../platform/db/database-client.ts'
import { destroyClient } from '../../../platform/db/destroy-client.ts'
import { isReadOnly } from '../../../platform/db/is-read-only.ts'
import { connectionConfig } from '../../../platform/db/open.ts'

interface Statement {
  readonly name: string
  readonly text: string
}

/** The parts of the connection used here that the types of `pg` lack. */
interface BatchConnection extends pg.Connection {
  /** The statements that the server has prepared, by name. */
  readonly parsedStatements: Readonly<Record<string, string>>
}

const EXECUTE_AND_SYNC = Buffer.concat([serialize.execute(), serialize.sync()])

/**
 * One execution of a prepared statement with text parameters and one text as its answer; through a pooler, of an unnamed
 * statement after one that sets `localSettings`. It skips the parts of `pg`'s
 * queries that are not needed here: describing columns and converting values. Use it with `client.query`.
 */
class BatchQuery implements pg.Submittable {
  /** Rejects with the `pg.DatabaseError` that the server reported, or with the error that broke the connection. */
  readonly answer: Promise<string | null>
  readonly name: string
  readonly text: string
  readonly #values: readonly (string | null)[]
  readonly #localSettings: string | undefined
  #first: string | null = null
  #resolve: (answer: string | null) => void = () => {}
  #reject: (error: Error) => void = () => {}

  constructor(
    { name, text }: Statement,
    values: readonly (string | null)[],
    localSettings: string | undefined,
  ) {
    // A pooler's session may have another statement of this name, or none.
    this.name = localSettings === undefined ? name : ''
    this.text = text
    this.#values = values
    this.#localSettings = localSettings
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  submit(connection: pg.Connection): void {
    const { stream, parsedStatements } = connection as BatchConnection
    const messages = [
      serialize.bind({ statement: this.name, values: [...this.#values] }),
      EXECUTE_AND_SYNC,
    ]
    if (!(this.name in parsedStatements))
      messages.unshift(serialize.parse({ name: this.name, text: this.text, types: [] }))
    // Up to the sync, all messages are one transaction, so the settings are those of the statement.
    if (this.#localSettings !== undefined)
      messages.unshift(
        serialize.parse({ name: '', text: this.#localSettings, types: [] }),
        serialize.bind({}),
        serialize.execute(),
      )
    // Sent in one write: several writes made a single call 4 to 10 % slower (measured).
    stream.write(Buffer.concat(messages))
  }

  /** The last row is the statement's. */
  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    this.#first = fields[0] ?? null
  }

  /** The commit follows; `handleReadyForQuery` reports it. */
  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#resolve(this.#first)
  }

  /** Later messages for this query change nothing: the promise is settled. */
  handleError(error: Error): void {
    this.#reject(error)
  }
}

/**
 * Thrown when the connection broke, or the answer was late. `wasSent` means that the statement may have been committed
 * nevertheless; if it is false, the statement had no effect.
 */
export class ConnectionLost extends Error {
  readonly wasSent: boolean
  constructor(cause: unknown, wasSent: boolean) {
    super('the connection to the database was lost', { cause })
    this.wasSent = wasSent
  }
}

export interface LaneConnection {
  /**
   * Runs one prepared statement, one at a time, and resolves with the one text of its answer once it is
   * committed. A broken connection is replaced before the next one.
   */
  run(statement: Statement, values: readonly (string | null)[]): Promise<string | null>
  close(): Promise<void>
}

/** The server cancels a statement after this; the client gives up on the connection a little later. */
const STATEMENT_TIMEOUT_MS = 5_000
const CLIENT_TIMEOUT_MS = 8_000
/**
 * The pause after a failed connection attempt, during which further attempts fail at once, so that an unavailable
 * database is not flooded.
 */
const CONNECT_PAUSE_MS = 200

/**
 * Plans are made once, for tables of any size. Every access path has an index, so that a plan made for an empty table
 * does not scan it once it is full.
 */
const SETTINGS = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  statement_timeout: String(STATEMENT_TIMEOUT_MS),
}

/**
 * A node that is stopped between a statement and its commit would keep its locks. Before PostgreSQL 17, which added
 * this limit, only the keep-alives of `connectionConfig` end such a transaction, when the machine or the network is
 * gone. Not for a pooler, which gets a statement whole.
 */
const LIMIT_TRANSACTION = `select set_config(name, '10000', false) from pg_settings where name = 'transaction_timeout'`

/**
 * Opens a connection of the lane. Statements wait up to `lockTimeoutMs` for a lock, and then fail with 55P03 without an
 * effect.
 */
export function createLaneConnection(databaseUrl: string, lockTimeoutMs: number): LaneConnection {
  let client: DatabaseClient | undefined
  let connecting: Promise<DatabaseClient> | undefined
  let pausedUntilMs = 0
  let isClosed = false
  let running: BatchQuery | undefined
  /** One timer, restarted for every statement: a timer for each would cost more than the rest of the bookkeeping. */
  const watchdog = setTimeout(() => {
    running?.handleError(new Error('no answer in time'))
  }, CLIENT_TIMEOUT_MS)
  watchdog.unref()

  async function connect(): Promise<DatabaseClient> {
    if (performance.now() < pausedUntilMs)
      throw new Error('the database refused a connection a moment ago')
    const fresh = new DatabaseClient(
      connectionConfig(databaseUrl, { ...SETTINGS, lock_timeout: String(lockTimeoutMs) }),
    )
    const drop = () => {
      if (client === fresh) client = undefined
    }
    fresh.on('error', drop)
    fresh.on('end', drop)
    try {
      await fresh.connect()
      if (fresh.localSettings === undefined) await fresh.query(LIMIT_TRANSACTION)
    } catch (error) {
      pausedUntilMs = performance.now() + CONNECT_PAUSE_MS
      throw error
    }
    client = fresh
    return fresh
  }

  async function current(): Promise<DatabaseClient> {
    if (isClosed) throw new Error('closed')
    if (client) return client
    connecting ??= connect().finally(() => (connecting = undefined))
    return connecting
  }

  return {
    async run(statement, values) {
      let used: DatabaseClient
      try {
        used = await current()
      } catch (error) {
        throw new ConnectionLost(error, false)
      }
      running = new BatchQuery(statement, values, used.localSettings)
      watchdog.refresh()
      try {
        return await used.query(running).answer
      } catch (error) {
        // Only an error that the server reports on a living connection proves that the statement had no effect.
        const isRefused = error instanceof pg.DatabaseError && error.severity === 'ERROR'
        const isStandby = isReadOnly(error)
        if (isRefused && !isStandby) throw error
        if (client === used) client = undefined
        destroyClient(used)
        throw new ConnectionLost(error, !isStandby)
      } finally {
        running = undefined
      }
    },
    async close() {
      isClosed = true
      clearTimeout(watchdog)
      await client?.end().catch(() => {})
    },
  }
}
