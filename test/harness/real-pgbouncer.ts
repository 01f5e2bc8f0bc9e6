/** The PgBouncer of this machine, if it has one, in transaction mode in front of all databases of a server. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { withParameter } from '../../src/platform/db/database-address.ts'
import { findFreePort } from './find-free-port.ts'

export interface RealPgBouncer {
  /** The address of a database of the server, which says that it is a pooler. */
  urlOf(database: string): string
  /** Kills it, with all connections on both sides, and starts it again at the same address. */
  crash(): Promise<void>
  stop(): Promise<void>
}

/** As `docs/operations.md` says. */
const RECOMMENDED = { idle_transaction_timeout: 15, server_login_retry: 1, tcp_keepalive: 1 }
const START_MS_MAX = 30_000
/** It does not run as root. */
const NOBODY = 65_534

export function hasPgBouncer(): boolean {
  return spawnSync('pgbouncer', ['--version']).status === 0
}

export async function startPgBouncer(
  serverUrl: string,
  settings: Readonly<Record<string, string | number>> = {},
): Promise<RealPgBouncer> {
  const server = new pg.Client({ connectionString: serverUrl })
  const { user, password, port: serverPort } = server
  const host = new URL(serverUrl.replace(/@\//, '@placeholder/')).hostname
  const port = await findFreePort()
  const folder = await mkdtemp(join(tmpdir(), 'pgbouncer-'))
  const users = join(folder, 'users.txt')
  const config = join(folder, 'pgbouncer.ini')
  const lines = Object.entries({
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'trust',
    auth_file: users,
    pool_mode: 'transaction',
    max_client_conn: 1_000,
    default_pool_size: 12,
    ...RECOMMENDED,
    // A test waits for the end of sessions, and of a fault.
    server_idle_timeout: 1,
    ...settings,
  }).map(([name, value]) => `${name} = ${value}`)
  await writeFile(users, `"${user}" "${password}"\n`)
  const all = `* = host=${host === 'placeholder' ? '127.0.0.1' : host} port=${serverPort}`
  await writeFile(config, ['[databases]', all, '[pgbouncer]', ...lines, ''].join('\n'))
  const isRoot = process.getuid?.() === 0
  await chmod(folder, 0o755)
  if (isRoot) for (const path of [folder, users, config]) await chown(path, NOBODY, NOBODY)
  let child = await startProcess(config, port, isRoot)
  const end = async (): Promise<void> => {
    const exited = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await exited
  }
  return {
    urlOf: (database) =>
      withParameter(`postgres://${user}@127.0.0.1:${port}/${database}`, 'pgbouncer', 'true'),
    async crash() {
      await end()
      child = await startProcess(config, port, isRoot)
    },
    async stop() {
      await end()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function startProcess(config: string, port: number, isRoot: boolean): Promise<ChildProcess> {
  const child = spawn('pgbouncer', [config], {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
  })
  process.once('exit', () => child.kill('SIGKILL'))
  let log = ''
  child.stderr.on('data', (text) => (log = (log + String(text)).slice(-4_000)))
  const deadline = Date.now() + START_MS_MAX
  while (!(await listens(port))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      child.kill('SIGKILL')
      throw new Error(`PgBouncer did not start:\n${log}`)
    }
    await sleep(20)
  }
  return child
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
