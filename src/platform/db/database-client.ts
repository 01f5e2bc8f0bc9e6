import pg from 'pg'
import type { DatabaseAddress } from './database-address.ts'
import { destroyClient } from './destroy-client.ts'
import { findPrimary, usePasswordFile } from './find-primary.ts'
import { isReadOnly } from './is-read-only.ts'

export interface DatabaseClientConfig extends pg.ClientConfig {
  readonly address: DatabaseAddress
  /** Settings of every statement, where a connection cannot keep them (`DatabaseAddress.isPooled`). */
  readonly settings: Readonly<Record<string, string>>
}

type Query = (
  config: unknown,
  values?: unknown,
  callback?: (error: Error | null, result: unknown) => void,
) => unknown

const BEGIN = /^\s*(begin|start transaction)\b[^;]*;?\s*$/i

/**
 * A connection to the primary, also through a pooler in transaction mode. There each statement is a transaction that
 * begins with the settings; statements between `begin` and `commit` have those of their `begin`. Not for a pooler:
 * `LISTEN`, advisory locks of sessions, named prepared statements.
 *
 * `pg`'s own query promises keep the rows of one query reachable from the next, so V8 moves every row that was ever
 * read to the old generation (measured: 1.5 KB a row, and half of the time of long reads). A promise around its
 * callbacks does not.
 */
export class DatabaseClient extends pg.Client {
  /** The statement that sets the settings until the end of the transaction; undefined without a pooler. */
  readonly localSettings: string | undefined
  /** `SET LOCAL` for each setting. It takes no snapshot, so the transaction may still set its isolation level. */
  readonly #setLocals: string
  readonly #address: DatabaseAddress

  constructor({ address, settings, ...config }: DatabaseClientConfig) {
    super(config)
    this.#address = address
    this.localSettings = address.isPooled ? selectLocals(settings) : undefined
    this.#setLocals = setLocals(settings)
    usePasswordFile(this, address)
    // The database may end the connection before its owner listens, which would end the process. Every statement on the
    // connection then fails.
    this.on('error', () => {})
  }

  override connect = ((callback?: (error: Error | null) => void): unknown => {
    const connected = this.#connect()
    if (!callback) return connected
    connected.then(() => callback(null), callback)
    return undefined
  }) as pg.Client['connect']

  override query = ((config: unknown, values?: unknown, callback?: unknown): unknown => {
    const query = pg.Client.prototype.query.bind(this) as Query
    const isPlain =
      typeof config === 'string' || typeof (config as pg.Submittable).submit !== 'function'
    if (!isPlain || typeof values === 'function' || callback !== undefined)
      return query(config, values, callback as never)
    return this.localSettings === undefined || this.getTransactionStatus() !== 'I'
      ? this.#send(config, values)
      : this.#sendAsTransaction(config, values)
  }) as pg.Client['query']

  async #connect(): Promise<void> {
    if (this.#address.hosts.length > 0) Object.assign(this, await findPrimary(this.#address))
    await (pg.Client.prototype.connect as () => Promise<unknown>).call(this)
  }

  #send(config: unknown, values?: unknown): Promise<unknown> {
    const query = pg.Client.prototype.query.bind(this) as Query
    return new Promise((resolve, reject) => {
      query(config, values, (error, result) => {
        if (!error) return resolve(result)
        if (isReadOnly(error)) destroyClient(this)
        reject(error)
      })
    })
  }

  async #sendAsTransaction(config: unknown, values: unknown): Promise<unknown> {
    const text = typeof config === 'string' ? config : (config as pg.QueryConfig).text
    const isBegin = BEGIN.test(text)
    try {
      const begun = await this.#send(
        `${isBegin ? text.replace(/;\s*$/, '') : 'begin'};${this.#setLocals}`,
      )
      if (isBegin) return begun
      const result = await this.#send(config, values)
      await this.#send('commit')
      return result
    } catch (error) {
      // Also where a setting failed: the next user of the connection must not be in this transaction.
      await this.#send('rollback').catch(() => {})
      throw error
    }
  }
}

function selectLocals(settings: Readonly<Record<string, string>>): string {
  const calls = Object.entries(settings).map(
    ([name, value]) => `set_config(${pg.escapeLiteral(name)},${pg.escapeLiteral(value)},true)`,
  )
  return `select ${calls.join(',')}`
}

function setLocals(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, list]) => {
      const values = list.split(',').map((value) => pg.escapeLiteral(value))
      return `set local ${pg.escapeIdentifier(name)} to ${values.join(',')}`
    })
    .join(';')
}
