/**
 * Thrown when the address leads to a pooler, and does not say so: the settings of connections do not reach PostgreSQL.
 */
export class PoolerNotDeclared extends Error {
  constructor() {
    super(
      'DATABASE_URL leads to a pooler such as PgBouncer, which does not pass on the settings of connections: ' +
        'add pgbouncer=true to the address (postgres://…/catraca?pgbouncer=true), and set DATABASE_LISTEN_URL to ' +
        'the address of PostgreSQL itself if you can',
    )
    this.name = 'PoolerNotDeclared'
  }
}

/** Whether an error is PgBouncer's answer to settings in the start-up message. */
export function isRefusedByPooler(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string }
  return code === '08P01' && message?.includes('startup parameter') === true
}
