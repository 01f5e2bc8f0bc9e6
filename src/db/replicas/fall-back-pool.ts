import type { PostgresPool, PostgresPoolClient } from 'kysely'
import type pg from 'pg'
import { queryPool } from '../query-pool.ts'

/**
 * The pool of a replica for single statements: one that the replica cannot answer is sent to the primary. There are no
 * transactions, of which the primary would get the rest.
 */
export function fallBackPool(
  replica: pg.Pool,
  primary: pg.Pool,
  /** Whether the failure is the replica's own, so that the primary may have the answer. */
  isOfReplica: (error: unknown) => boolean,
): PostgresPool {
  const query = async (text: string, values: unknown[]): Promise<unknown> => {
    if (/^(begin|start transaction)/.test(text))
      throw new Error('reads of a replica are single statements, not transactions')
    try {
      return await queryPool(replica, text, values)
    } catch (error) {
      if (!isOfReplica(error)) throw error
      return queryPool(primary, text, values)
    }
  }
  return {
    options: replica.options,
    end: () => replica.end(),
    // What Kysely uses of a connection.
    connect: async () => ({ query, release() {} }) as unknown as PostgresPoolClient,
  }
}
