import pg from 'pg'
import { NoPrimary } from './find-primary.ts'

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

/** The first two characters of SQLSTATE codes: connection exceptions, insufficient resources, operator intervention. */
const CLASSES: ReadonlySet<string> = new Set(['08', '53', '57'])
const CODES: ReadonlySet<string> = new Set([
  // A lock was not free in time; a transaction that was idle for too long; a standby, after a fail-over.
  '55P03',
  '25P03',
  '25006',
  // Still in conflict with others after all attempts (`inTransaction`).
  '40P01',
  '40001',
])
const FATAL: ReadonlySet<string> = new Set(['FATAL', 'PANIC'])
/** Of `pg` and `pg-pool`, which give them no code. */
const MESSAGES: ReadonlySet<string> = new Set([
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Cannot use a pool after calling end on the pool',
])
const SYSTEM_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  // The database's socket file is gone.
  'ENOENT',
])
const SYSTEM_CALLS: ReadonlySet<string> = new Set(['connect', 'read', 'write', 'getaddrinfo'])

/**
 * Whether a statement failed because the database is overloaded or unreachable, so that the same one may succeed in a moment.
 * If the connection was lost during a commit, the transaction may have been committed.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) {
    const { code = '', severity = '' } = error
    // With a fatal error the server ends the connection, or refuses it.
    return CODES.has(code) || CLASSES.has(code.slice(0, 2)) || FATAL.has(severity)
  }
  if (error instanceof NoPrimary) return true
  // Of each address of a host.
  if (error instanceof AggregateError)
    return error.errors.length > 0 && error.errors.every(isDatabaseUnavailable)
  if (!(error instanceof Error)) return false
  const { message, code, syscall } = error as NodeJS.ErrnoException
  return MESSAGES.has(message) || (SYSTEM_CALLS.has(syscall ?? '') && SYSTEM_CODES.has(code ?? ''))
}
