import type { PostgresPool, PostgresPoolClient } from 'kysely'
import type pg from 'pg'
import { queryPool } from '../query-pool.ts'
import { queryReadOnly } from './query-read-only.ts'

/**
 * The pool of a replica for single statements: one that the replica cannot answer is sent to the primary, which refuses
 * to write as the replica would. There are no transactions, of which the primary would get the rest.
 */
export function fallBackPool(
  replica: pg.Pool,
  primary: pg.Pool,
  /** Whether the failure is the replica's own, so that the primary may have the answer. */
  isOfReplica: (error: unknown) => boolean,
): PostgresPool {
  return singleStatements(replica, async (text, values) => {
    try {
      return await queryPool(replica, text, values)
    } catch (error) {
      if (!isOfReplica(error)) throw error
      return queryReadOnly(primary, text, values)
    }
  })
}

/** The same of the primary, where no replica is read. The pool is its owner's to end. */
export function readOnlyPool(primary: pg.Pool): PostgresPool {
  const statements = (text: string, values: unknown[]): Promise<unknown> =>
    queryReadOnly(primary, text, values)
  return { ...singleStatements(primary, statements), end: async () => {} }
}

function singleStatements(
  pool: pg.Pool,
  run: (text: string, values: unknown[]) => Promise<unknown>,
): PostgresPool {
  const query = async (text: string, values: unknown[]): Promise<unknown> => {
    if (/^(begin|start transaction)/.test(text))
      throw new Error('reads of a replica are single statements, not transactions')
    return run(text, values)
  }
  return {
    options: pool.options,
    end: () => pool.end(),
    // What Kysely uses of a connection.
    connect: async () => ({ query, release() {} }) as unknown as PostgresPoolClient,
  }
}
