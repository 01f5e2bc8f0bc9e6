import type pg from 'pg'

/** One statement on a connection of the pool, in a transaction in which PostgreSQL refuses every write. */
export async function queryReadOnly(
  pool: pg.Pool,
  text: string,
  values: unknown[],
): Promise<pg.QueryResult> {
  const client = await pool.connect()
  try {
    await client.query('begin read only')
    const result = await client.query(text, values)
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  } finally {
    // The pool closes a connection that broke.
    client.release()
  }
}
