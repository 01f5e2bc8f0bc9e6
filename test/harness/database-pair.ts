/** A primary and a standby that streams from it, as processes of their own: the primary can be killed for good. */
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { runAs } from '../../src/db/embedded-account.ts'
import { locateCluster } from '../../src/db/embedded-cluster-dir.ts'
import { withClient } from './test-database.ts'

export interface DatabasePair {
  /** Both hosts, as libpq writes them. */
  readonly databaseUrl: string
  /** Of the standby alone. */
  readonly standbyUrl: string
  /** SIGKILL: nothing is written any more, and nothing starts it again. */
  killPrimary(): Promise<void>
  /** The standby takes writes when this resolves. */
  promote(): Promise<void>
  close(): Promise<void>
}

interface Started {
  readonly databaseUrl: string
  readonly folder: string
}

const PROGRAM = join(import.meta.dirname, 'start-database.ts')
const STANDBY = 'standby'
const copy = promisify(execFile)

/** A commit waits for the standby's disk. */
export async function startDatabasePair(folder: string): Promise<DatabasePair> {
  const first = await start(join(folder, 'first'))
  const secondDir = join(folder, 'second')
  await mkdir(secondDir)
  const home = locateCluster(secondDir, runAs(), () => {})
  const cluster = join(home, 'cluster')
  await withClient(first.databaseUrl, async (client) => {
    await client.query(`select pg_backup_start('copy', true)`)
    await copy('cp', ['-a', join(first.folder, 'cluster'), join(first.folder, 'password'), home])
    const { rows } = await client.query<{ labelfile: string }>(
      'select labelfile from pg_backup_stop(false)',
    )
    await rm(join(cluster, 'postmaster.pid'))
    await writeFile(join(cluster, 'backup_label'), rows[0]?.labelfile ?? '')
  })
  await writeFile(join(cluster, 'standby.signal'), '')
  const { port, username, password } = new URL(first.databaseUrl)
  await appendFile(
    join(cluster, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${port} user=${username} password=${password} application_name=${STANDBY}'\n`,
  )
  await copy('chown', ['-R', `--reference=${join(first.folder, 'cluster')}`, cluster])
  const standby = await start(secondDir)
  await withClient(first.databaseUrl, async (client) => {
    await client.query(`alter system set synchronous_standby_names = '${STANDBY}'`)
    await client.query('select pg_reload_conf()')
    for (let isSynchronous = false; !isSynchronous; await sleep(50)) {
      const { rowCount } = await client.query(
        `select 1 from pg_stat_replication where sync_state = 'sync'`,
      )
      isSynchronous = rowCount === 1
    }
  })
  const { port: standbyPort } = new URL(standby.databaseUrl)
  return {
    databaseUrl: `postgres://${username}:${password}@127.0.0.1:${port},127.0.0.1:${standbyPort}/catraca`,
    standbyUrl: standby.databaseUrl,
    killPrimary: () => first.kill(),
    async promote() {
      await withClient(standby.databaseUrl, (client) => client.query('select pg_promote(true, 60)'))
    },
    async close() {
      await first.kill()
      await standby.kill()
    },
  }
}

async function start(dataDir: string): Promise<Started & { kill(): Promise<void> }> {
  const child = spawn(process.execPath, [PROGRAM, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.on('data', (data) => (text += String(data)))
  while (!text.endsWith('\n')) await Promise.race([once(child.stdout, 'data'), failWithEnd(child)])
  const started = JSON.parse(text) as Started
  return {
    ...started,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
      const [pid] = (await readFile(join(started.folder, 'cluster/postmaster.pid'), 'utf8')).split(
        '\n',
      )
      process.kill(Number(pid), 'SIGKILL')
    },
  }
}

async function failWithEnd(child: ChildProcess): Promise<never> {
  await once(child, 'exit')
  throw new Error('the database did not start')
}
