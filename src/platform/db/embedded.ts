/**
 * The PostgreSQL that an npm package ships, started when no `DATABASE_URL` is given. It outlives a killed server: the
 * next start attaches to it. The last process that uses it stops it.
 */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { runAs, type Account, registerUser, withStartLock } from './embedded-users.ts'
import { locateBinaries, type Binaries } from './embedded-binaries.ts'
import { locateCluster } from './embedded-cluster-dir.ts'
import { makeFolder } from '../lib/make-folder.ts'
import { isAlive } from '../lib/process-identity.ts'

export interface EmbeddedPostgres {
  readonly databaseUrl: string
  /** Its files. */
  readonly folder: string
  /** Stops the database, unless another living process uses it. */
  stop(): Promise<void>
}

/** A program of the database ended with a failure. The message has its lines about it, and not all that it printed. */
export class EmbeddedFailed extends Error {
  constructor(program: string, code: number | null, output: string) {
    const lines = output.trim().split('\n')
    const faults = lines.filter((line) => /\b(?:error|fatal|panic)\b/i.test(line))
    super(
      `the embedded PostgreSQL: ${program} failed (${code}): ${(faults.length > 0 ? faults : lines.slice(-1)).join('; ')}`,
    )
  }
}

const USER = 'catraca'
const DATABASE = 'catraca'
/** Recovery after a crash may take long. */
const START_MS_MAX = 120_000
const STOP_MS_MAX = 20_000
const WATCH_MS = 500
/** A socket's path may have 103 bytes on macOS; the rest of them is `/.s.PGSQL.65535.lock`. */
const SOCKET_DIR_BYTES_MAX = 80

const CONNECTIONS_MIN = 200
const CONNECTIONS_BESIDE = 50
const SETTINGS = {
  shared_buffers: '256MB',
  wal_compression: 'on',
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  autovacuum_naptime: '10s',
  jit: 'off',
  // Disabled because it costs a write for each statement, and nothing reads it.
  update_process_title: 'off',
  timezone: 'UTC',
  logging_collector: 'off',
  // The details of an error quote the row that was refused: `Key (email)=(…) already exists`.
  log_error_verbosity: 'terse',
  fsync: 'on',
  synchronous_commit: 'on',
}

/** Starts the embedded database. Throws an Error with instructions if this machine has no embedded PostgreSQL. */
export async function startEmbedded(options: {
  dataDir: string
  log: (message: string) => void
  /** The most connections of one server; commands and a second server need some beside. */
  connections?: number
  /** For a database that died under this process; `log` if not given. */
  warn?: (message: string) => void
  /** Settings that replace the service's: tests that never crash this server need no `fsync`. */
  settings?: Readonly<Record<string, string>>
  /** The folder of an npm package with another release of PostgreSQL; tests try the oldest one that is promised. */
  packageFolder?: string
}): Promise<EmbeddedPostgres> {
  const account = runAs()
  makeFolder(options.dataDir)
  const binaries = locateBinaries(account, options.log, options.packageFolder)
  const home = locateCluster(options.dataDir, account, options.log)
  const release = registerUser(home)
  const start = (): Promise<string> =>
    withStartLock(home, () =>
      attachOrStart(home, account, binaries, {
        ...SETTINGS,
        max_connections: String(
          Math.max(CONNECTIONS_MIN, (options.connections ?? 0) + CONNECTIONS_BESIDE),
        ),
        ...options.settings,
      }),
    )
  try {
    const databaseUrl = await start()
    const watch = keepUp(join(home, 'cluster'), start, options.warn ?? options.log)
    const stop = async (): Promise<void> => {
      await watch.stop()
      await withStartLock(home, async () => (release() ? stopServer(home) : undefined))
    }
    let stopped: Promise<void> | undefined
    return { databaseUrl, folder: home, stop: () => (stopped ??= stop()) }
  } catch (error) {
    release()
    throw error
  }
}

/** Restarts the database when it dies under a living server; it keeps its port. */
function keepUp(
  cluster: string,
  start: () => Promise<string>,
  warn: (message: string) => void,
): { stop(): Promise<void> } {
  let restarting: Promise<void> | undefined
  const timer = setInterval(() => {
    if (restarting || findPostmaster(cluster)) return
    warn('the database died; starting it again')
    restarting = start()
      .then(() => warn('the database is up again'))
      .catch((error: unknown) => warn(`the database does not start: ${String(error)}`))
      .finally(() => (restarting = undefined))
  }, WATCH_MS)
  timer.unref()
  return {
    async stop() {
      clearInterval(timer)
      await restarting
    },
  }
}

/** Returns the address. Callers hold the start lock. */
async function attachOrStart(
  home: string,
  account: Account,
  binaries: Binaries,
  settings: Readonly<Record<string, string>>,
): Promise<string> {
  const cluster = join(home, 'cluster')
  if (!existsSync(cluster)) await initialise(home, cluster, account, binaries)
  const password = readFileSync(join(home, 'password'), 'utf8')
  const socketDir = socketDirOf(home)
  const overSocket = socketDir === '' ? '' : `?host=${encodeURIComponent(socketDir)}`
  const urlAt = (port: number): string =>
    `postgres://${USER}:${password}@127.0.0.1:${port}/${DATABASE}${overSocket}`

  let launched: { code?: number | null } | undefined
  for (const deadline = Date.now() + START_MS_MAX; Date.now() < deadline; await sleep(50)) {
    const running = findPostmaster(cluster)
    if (running) {
      // Started by us or by a killed server: it may still be recovering, or shutting down.
      if (running.port > 0 && (await answers(urlAt(running.port), 1_000)))
        return urlAt(running.port)
    } else if (!launched) {
      // A pid file without a living postmaster of this folder would block the start.
      rmSync(join(cluster, 'postmaster.pid'), { force: true })
      launched = launch(
        home,
        cluster,
        { ...settings, port: String(await choosePort(home)) },
        account,
        binaries,
      )
    } else if (launched.code !== undefined) {
      // Orphaned processes of a killed postmaster keep its memory for some seconds; then a start succeeds.
      launched = undefined
      await sleep(500)
    }
  }
  throw new Error(`the embedded PostgreSQL did not start; see ${join(home, 'postgres.log')}`)
}

/** Creates a cluster as a whole or not at all: a kill in the middle leaves a folder that the next start deletes. */
async function initialise(
  home: string,
  cluster: string,
  account: Account,
  binaries: Binaries,
): Promise<void> {
  // A new name, because processes of a killed start may still write to the old folder.
  const draft = `${cluster}.draft-${randomBytes(4).toString('hex')}`
  const passwordDraft = join(home, 'password.draft')
  const password = randomBytes(24).toString('hex')
  writeFileSync(passwordDraft, password, { mode: 0o600 })
  own(passwordDraft, account)
  const args = [
    '-D',
    draft,
    '-U',
    USER,
    '--pwfile',
    passwordDraft,
    '-A',
    'scram-sha-256',
    '-E',
    'UTF8',
    '--locale=C',
    '--data-checksums',
    '--no-instructions',
  ]
  await runToEnd(binaries, 'initdb', args, account)

  // The server creates the database in single-user mode, before anything can connect.
  await runToEnd(
    binaries,
    'postgres',
    ['--single', '-D', draft, 'postgres'],
    account,
    `create database ${DATABASE}\n`,
  )
  renameSync(passwordDraft, join(home, 'password'))
  renameSync(draft, cluster)
  sweepDrafts(home)
}

function sweepDrafts(home: string): void {
  for (const name of readdirSync(home).filter((name) => name.startsWith('cluster.draft'))) {
    try {
      rmSync(join(home, name), { recursive: true, force: true })
    } catch {
      // An orphaned process still writes to it; the next initialisation deletes it.
    }
  }
}

/**
 * The folder of the Unix socket, which is closed to other accounts and saves 0.05 ms a round trip over TCP. None on a
 * system without such sockets, or if the socket's path would be too long.
 */
function socketDirOf(home: string): string {
  return process.platform === 'win32' || Buffer.byteLength(home) > SOCKET_DIR_BYTES_MAX ? '' : home
}

function launch(
  home: string,
  cluster: string,
  chosen: Readonly<Record<string, string>>,
  account: Account,
  binaries: Binaries,
): { code?: number | null } {
  const logFile = openSync(join(home, 'postgres.log'), 'w', 0o600)
  const settings = {
    ...chosen,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: socketDirOf(home),
  }
  const args = [
    '-D',
    cluster,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]
  const exited: { code?: number | null } = {}
  // A separate session: Ctrl-C in the terminal stops the server only, which stops the database last.
  const child = spawn(join(binaries.dir, 'bin/postgres'), args, {
    ...account.ids,
    cwd: home,
    env: binaries.env,
    detached: true,
    stdio: ['ignore', logFile, logFile],
  })
  child.on('exit', (code) => (exited.code = code))
  child.on('error', () => (exited.code = -1))
  child.unref()
  return exited
}

export async function stopServer(home: string): Promise<void> {
  const running = findPostmaster(join(home, 'cluster'))
  if (!running) return
  // Fast shutdown; after a while an immediate one, from which the next start recovers.
  process.kill(running.pid, 'SIGINT')
  for (const deadline = Date.now() + STOP_MS_MAX; isAlive(running.pid) && Date.now() < deadline;)
    await sleep(20)
  if (isAlive(running.pid)) process.kill(running.pid, 'SIGQUIT')
}

function runToEnd(
  binaries: Binaries,
  program: string,
  args: string[],
  account: Account,
  input?: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(join(binaries.dir, 'bin', program), args, {
      ...account.ids,
      cwd: '/',
      env: binaries.env,
      stdio: 'pipe',
    })
    let output = ''
    child.stdout.on('data', (text) => (output += String(text)))
    child.stderr.on('data', (text) => (output += String(text)))
    child.on('error', reject)
    child.on('exit', (code) =>
      code === 0 ? resolve() : reject(new EmbeddedFailed(program, code, output)),
    )
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}

async function answers(databaseUrl: string, timeoutMs: number): Promise<boolean> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: timeoutMs,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

/** The living postmaster of this folder, if any. Its port is 0 until it has written it. */
function findPostmaster(cluster: string): { pid: number; port: number } | undefined {
  try {
    const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')
    const pid = Number(lines[0])
    return isAlive(pid) && runsOn(pid, cluster) ? { pid, port: Number(lines[3] ?? 0) } : undefined
  } catch {
    return undefined
  }
}

/** Process ids are reused after a reboot. Only Linux shows the command line of a process. */
function runsOn(pid: number, cluster: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(cluster)
  } catch {
    return process.platform !== 'linux'
  }
}

function own(path: string, account: Account): void {
  chmodSync(path, 0o600)
  if (account.ids.uid !== undefined)
    chownSync(path, account.ids.uid, account.ids.gid ?? account.ids.uid)
}

/** The port of the last start if it is free, so that running servers find the database again. */
async function choosePort(home: string): Promise<number> {
  const file = join(home, 'port')
  const last = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0
  const port = (await tryPort(last)) ?? (await tryPort(0))
  if (port === undefined) throw new Error('there is no free port on 127.0.0.1')
  writeFileSync(file, String(port))
  return port
}

function tryPort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.on('error', () => resolve(undefined))
    server.listen(port, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
