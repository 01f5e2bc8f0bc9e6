import pg from 'pg'

const READ_ONLY_SQL_TRANSACTION = '25006'

/**
 * Whether a statement failed because the database became a standby: it had no effect, and the connection would refuse
 * every write until it is closed. The next connection may find the primary.
 */
export function isReadOnly(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === READ_ONLY_SQL_TRANSACTION
}
