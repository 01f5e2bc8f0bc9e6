import type { PostgresPool, PostgresPoolClient } from 'kysely'
import type pg from 'pg'
import { destroyClient } from '../destroy-client.ts'
import { onConnection } from '../query-pool.ts'

/** The server cancels statements after 10 s: without an answer by then, the connection is dead. */
const STATEMENT_MS_MAX = 12_000

/**
 * Returns the pool of a replica for single statements: one that the replica cannot answer is sent to the primary, which
 * refuses to write as the replica would. There are no transactions, of which the primary would get the rest.
 */
export function fallBackPool(
  replica: pg.Pool,
  primary: pg.Pool,
  /** Whether the failure is the replica's own, so that the primary may have the answer. */
  isOfReplica: (error: unknown) => boolean,
  statementMsMax = STATEMENT_MS_MAX,
): PostgresPool {
  return singleStatements(replica, async (text, values) => {
    try {
      return await queryWithin(replica, text, values, statementMsMax)
    } catch (error) {
      if (!isOfReplica(error)) throw error
      return queryReadOnly(primary, text, values)
    }
  })
}

/** Ends the connection of a statement that gets no answer: it would keep its place in the pool, and its caller waiting. */
function queryWithin(
  pool: pg.Pool,
  text: string,
  values: unknown[],
  msMax: number,
): Promise<unknown> {
  return onConnection(pool, async (client) => {
    const timer = setTimeout(() => destroyClient(client as unknown as pg.Client), msMax)
    try {
      return await client.query(text, values)
    } finally {
      clearTimeout(timer)
    }
  })
}

/**
 * Returns the pool of the primary for single statements that do not write. It does not end the connections of
 * `primary`.
 */
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

/** One statement on a connection of the pool, in a transaction in which PostgreSQL refuses every write. */
function queryReadOnly(pool: pg.Pool, text: string, values: unknown[]): Promise<pg.QueryResult> {
  return onConnection(pool, async (client) => {
    try {
      await client.query('begin read only')
      const result = await client.query(text, values)
      await client.query('commit')
      return result
    } catch (error) {
      await client.query('rollback').catch(() => {})
      throw error
    }
  })
}
