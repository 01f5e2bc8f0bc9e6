import type pg from 'pg'

/** One statement on a connection of the pool. `pool.query` would leave out the settings that a pooler's connections need. */
export async function queryPool(
  pool: pg.Pool,
  text: string,
  values: unknown[] = [],
): Promise<pg.QueryResult> {
  const client = await pool.connect()
  try {
    return await client.query(text, values)
  } finally {
    // The pool closes a connection that broke.
    client.release()
  }
}
