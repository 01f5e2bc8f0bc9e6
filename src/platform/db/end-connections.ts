import { sql } from 'kysely'
import { withParameter } from './database-address.ts'
import type { Database } from './open.ts'

/** Each connection may take this long to end, in milliseconds. */
const END_MS_MAX = 2_000

/** Returns the name by which the database knows the connections of one process of a server. */
export function connectionsOf(processId: string): string {
  return `catraca-${processId}`
}

/** Returns the address of the database for a process, whose connections then have its name. */
export function databaseUrlOf(databaseUrl: string, processId: string): string {
  return withParameter(databaseUrl, 'application_name', connectionsOf(processId))
}

/**
 * Ends the connections with this name, and waits until their statements are over: open transactions are rolled back.
 * The connections of a killed process outlive it: the database notices only when a statement ends.
 */
export async function endConnections(db: Database, name: string): Promise<void> {
  await sql`
    select pg_terminate_backend(pid, ${END_MS_MAX}) from pg_stat_activity
    where application_name = ${name} and datname = current_database() and usename = current_user`.execute(
    db,
  )
}
