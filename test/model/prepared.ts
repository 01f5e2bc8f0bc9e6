/**
 * The statements of the model itself, which it repeats for every schedule: each is planned once, because planning the
 * longer ones costs more than running them.
 */
import type { RawBuilder } from 'kysely'
import { readDatabaseAddress } from '../../src/platform/db/database-address.ts'
import { connectionConfig, openPool, type Database } from '../../src/platform/db/open.ts'

export interface Prepared {
  /** `name`: of the statement, whose text is always the same. */
  run<Row>(name: string, statement: RawBuilder<Row>): Promise<Row[]>
  close(): Promise<void>
}

/** The tables are empty when the plans are made, and do not stay so. */
const SETTINGS = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  statement_timeout: '10000',
}

export function openPrepared(databaseUrl: string, db: Database): Prepared {
  const pool = openPool(connectionConfig(databaseUrl, SETTINGS), { max: 1, onError: () => {} })
  // A pooler runs the next statement in another session.
  const { isPooled } = readDatabaseAddress(databaseUrl)
  return {
    async run<Row>(name: string, statement: RawBuilder<Row>) {
      const { sql, parameters } = statement.compile(db)
      const values = [...parameters]
      const { rows } = await pool.query(
        isPooled ? { text: sql, values } : { name, text: sql, values },
      )
      return rows as Row[]
    },
    close: () => pool.end(),
  }
}
