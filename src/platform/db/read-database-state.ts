import { sql } from 'kysely'
import type { Database } from './open.ts'

export interface DatabaseState {
  readonly sizeBytes: number
  /** Connections of all nodes and all other clients. */
  readonly connections: number
  /** The limit of the whole server. */
  readonly connectionsMax: number
}

export async function readDatabaseState(db: Database): Promise<DatabaseState> {
  const { rows } = await sql<DatabaseState>`
    select pg_database_size(current_database())::float8 as "sizeBytes",
      (select count(*)::int4 from pg_stat_activity where datname = current_database()) as connections,
      current_setting('max_connections')::int4 as "connectionsMax"`.execute(db)
  return rows[0] as DatabaseState
}
