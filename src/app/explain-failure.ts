import { ModeError } from '../platform/db/claim-mode.ts'
import { EmbeddedFailed } from '../platform/db/embedded.ts'
import { NoPrimary } from '../platform/db/find-primary.ts'
import { TakesNoWrites } from '../platform/db/is-standby.ts'
import { PoolerNotDeclared } from '../platform/db/database-errors.ts'
import { WorkerNotReady } from '../platform/processes/worker-pool.ts'
import { ConfigError, type Config } from './config/config.ts'
import { PriceDataFault } from './read-price-data.ts'
import { DatabaseClient } from '../platform/db/database-client.ts'
import { connectionConfig } from '../platform/db/open.ts'
import type { Log } from '../platform/lib/log.ts'

/** A power cut loses what the database said it has. */
class DatabaseNotDurable extends Error {
  constructor(settings: readonly string[]) {
    super(
      `the database runs with ${settings.map((name) => `${name}=off`).join(' and ')}: a power cut loses or damages charges. ` +
        'Live mode needs both on: set them in postgresql.conf and restart PostgreSQL',
    )
    this.name = 'DatabaseNotDurable'
  }
}

interface Facts {
  readonly fsync: string
  readonly full_page_writes: string
  readonly synchronous_standby_names: string
}

/**
 * Checks, before a start in live mode, that the server keeps what it has committed. Throws a `DatabaseNotDurable`.
 * `synchronous_commit` is set by every connection; the two settings that are checked belong to the server.
 */
export async function checkDurability(databaseUrl: string, log: Log): Promise<void> {
  const client = new DatabaseClient(connectionConfig(databaseUrl))
  await client.connect()
  try {
    const { rows } = await client.query<Facts>(
      `select current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
        current_setting('synchronous_standby_names') as synchronous_standby_names`,
    )
    const [facts] = rows
    const off = (['fsync', 'full_page_writes'] as const).filter((name) => facts?.[name] !== 'on')
    if (off.length > 0) throw new DatabaseNotDurable(off)
    if (facts?.synchronous_standby_names === '')
      log.warn('no_synchronous_standby', {
        note: 'charges are on one disk only: if it is lost, or a fail-over goes to an asynchronous standby, the last charges are lost',
      })
  } finally {
    await client.end()
  }
}

const EXPLAINED = [
  ModeError,
  ConfigError,
  DatabaseNotDurable,
  PriceDataFault,
  WorkerNotReady,
  PoolerNotDeclared,
  TakesNoWrites,
  EmbeddedFailed,
]

/**
 * Says in words what to do about a failure of the machine or of a setting. Undefined for any other failure: it is a
 * fault of the program, and its stack is needed to find the cause.
 */
export function explainFailure(
  error: unknown,
  { host, port, probePort, databaseUrl, dataDir }: Config,
): string | undefined {
  if (EXPLAINED.some((explained) => error instanceof explained)) return (error as Error).message
  const {
    code,
    message,
    syscall,
    path,
    hostname,
    port: wanted = port,
  } = error as NodeJS.ErrnoException & { hostname?: string; port?: number }
  if (syscall === 'listen' && wanted === probePort)
    return `PROBE_PORT: port ${probePort} of ${host} cannot be used: ${message}`
  // A worker's socket is bound by its parent, and `bind` reports what `listen` does elsewhere.
  const isListening = syscall === 'listen' || syscall === 'bind'
  if (isListening && code === 'EADDRINUSE')
    return `port ${port} of ${host} is taken by another program, perhaps by another Catraca. Stop it, or choose another port: PORT=${port + 1} npm start`
  if (isListening && code === 'EACCES')
    return `this account may not listen on port ${port}. Choose a port from 1024 on: PORT=8080 npm start`
  if (isListening && code === 'EADDRNOTAVAIL') return `HOST: this machine has no address ${host}`
  if (syscall?.startsWith('getaddrinfo') === true && hostname === host)
    return `HOST: "${host}" is not an address of this machine`
  if (databaseUrl !== undefined && isOfDatabase(error))
    return `the database of DATABASE_URL cannot be opened: ${message || code}`
  // Also a folder above it, which could not be made.
  if (path !== undefined && (path.startsWith(dataDir) || dataDir.startsWith(path)))
    return `DATA_DIR: the folder ${dataDir} cannot be used: ${message}`
  return undefined
}

/** The connection, or PostgreSQL before the first statement: unknown role, wrong password, no such database. */
function isOfDatabase(error: unknown): boolean {
  if (error instanceof NoPrimary) return true
  const { code = '', syscall } = error as NodeJS.ErrnoException
  return syscall === 'connect' || syscall === 'getaddrinfo' || /^(28|3D)/.test(code)
}
