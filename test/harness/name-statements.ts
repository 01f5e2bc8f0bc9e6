/** Connections that plan each query once, for a test that sends the same long queries hundreds of times. */
import { createHash } from 'node:crypto'
import type pg from 'pg'
import { DatabaseClient } from '../../src/platform/db/database-client.ts'

type Query = (config: unknown, values?: unknown) => unknown

/** What the queries find does not change: only the planner, which takes longer than they do, has less to do. */
export function nameStatements(pool: pg.Pool): void {
  pool.on('connect', (client: pg.ClientBase) => {
    // A pooler hands each transaction to another connection, which does not know the names.
    if (client instanceof DatabaseClient && client.localSettings !== undefined) return
    const query = client.query.bind(client) as Query
    client.query = ((text: unknown, values: unknown) =>
      typeof text === 'string' && text.trimStart().startsWith('select')
        ? query({ name: nameOf(text), text, values })
        : query(text, values)) as pg.Client['query']
    // Otherwise PostgreSQL plans a named query anew for each of its first five uses.
    void query('set plan_cache_mode = force_generic_plan')
  })
}

function nameOf(text: string): string {
  return createHash('sha1').update(text).digest('hex')
}
