import type pg from 'pg'

/**
 * Runs a statement on a connection of the pool. `pool.query` would leave out the settings that a pooler's connections
 * need.
 */
export function queryPool(
  pool: pg.Pool,
  text: string,
  values: unknown[] = [],
): Promise<pg.QueryResult> {
  return onConnection(pool, (client) => client.query(text, values))
}

/** Runs the work on a connection of the pool, and gives the connection back. */
export async function onConnection<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect()
  try {
    return await work(client)
  } finally {
    // The pool closes a connection that broke.
    client.release()
  }
}
