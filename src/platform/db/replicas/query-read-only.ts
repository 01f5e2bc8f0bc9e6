import type pg from 'pg'
import { onConnection } from '../query-pool.ts'

/** One statement on a connection of the pool, in a transaction in which PostgreSQL refuses every write. */
export function queryReadOnly(
  pool: pg.Pool,
  text: string,
  values: unknown[],
): Promise<pg.QueryResult> {
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
