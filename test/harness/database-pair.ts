/**
 * A primary and a synchronous standby, as processes of their own, and what a manager of fail-overs does with them: the
 * standby is promoted, and a new one is made of the old primary.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { runAs } from '../../src/db/embedded-account.ts'
import { locateCluster } from '../../src/db/embedded-cluster-dir.ts'
import { startDatabaseProcess, type DatabaseProcess } from './database-process.ts'
import { withClient } from './test-database.ts'

export interface DatabasePair {
  /** Both hosts, as libpq writes them. */
  readonly databaseUrl: string
  /** Of both hosts, in the order of the URL. */
  readonly ports: readonly number[]
  readonly primary: DatabaseProcess
  readonly standby: DatabaseProcess
  /** Resolves when every commit waits for the standby's disk: only then does a fail-over lose nothing. */
  untilSynchronous(): Promise<void>
  /** Commits wait for no standby any more, as the manager decides when it is lost. */
  goOnAlone(): Promise<void>
  /** After the primary's end: the standby takes writes when this resolves, and commits wait for no other. */
  promote(): Promise<void>
  /** The ended process comes back as the standby, with a new copy of the primary, and commits wait for it. */
  rejoin(): Promise<void>
  close(): Promise<void>
}

const STANDBY = 'standby'
/** The standby comes back soon after the primary was away, and still finds what was written meanwhile. */
const SETTINGS = { wal_retrieve_retry_interval: '500ms', wal_keep_size: '512MB' }
const STANDBY_MS_MAX = 120_000
const run = promisify(execFile)

/** A commit waits for the standby's disk. */
export async function startDatabasePair(folder: string): Promise<DatabasePair> {
  const secondDir = join(folder, 'second')
  let primary = await startDatabaseProcess(join(folder, 'first'))
  await withClient(primary.databaseUrl, async (client) => {
    for (const [name, value] of Object.entries(SETTINGS))
      await client.query(`alter system set ${name} = '${value}'`)
    await client.query('select pg_reload_conf()')
  })
  await mkdir(secondDir)
  const secondHome = locateCluster(secondDir, runAs(), () => {})
  await run('cp', ['-a', join(primary.home, 'password'), secondHome])
  await copyPrimary(primary, secondHome)
  let standby = await startDatabaseProcess(secondDir)
  await makeSynchronous(primary)
  const { username, password } = new URL(primary.databaseUrl)
  const ports = [primary.port, standby.port]
  return {
    databaseUrl: `postgres://${username}:${password}@${ports.map((port) => `127.0.0.1:${port}`).join()}/catraca`,
    ports,
    get primary() {
      return primary
    },
    get standby() {
      return standby
    },
    untilSynchronous: () => untilStandbyIs(primary, 'sync'),
    goOnAlone: () => setSynchronousStandby(primary, ''),
    async promote() {
      await withClient(standby.databaseUrl, (client) => client.query('select pg_promote(true, 60)'))
      ;[primary, standby] = [standby, primary]
    },
    async rejoin() {
      await copyPrimary(primary, standby.home)
      await standby.start()
      await makeSynchronous(primary)
    },
    async close() {
      await standby.kill()
      await primary.kill()
    },
  }
}

/** Replaces the cluster in this folder by a standby of the primary, which goes on meanwhile. */
async function copyPrimary({ databaseUrl, home }: DatabaseProcess, to: string): Promise<void> {
  const cluster = join(to, 'cluster')
  await rm(cluster, { recursive: true, force: true })
  await withClient(databaseUrl, async (client) => {
    await client.query(`select pg_backup_start('copy', true)`)
    await copyWhileItChanges(home, to)
    const { rows } = await client.query<{ labelfile: string }>(
      'select labelfile from pg_backup_stop(false)',
    )
    await writeFile(join(cluster, 'backup_label'), rows[0]?.labelfile ?? '')
  })
  await writeFile(join(cluster, 'standby.signal'), '')
  const { port, username, password } = new URL(databaseUrl)
  await appendFile(
    join(cluster, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${port} user=${username} password=${password} application_name=${STANDBY}'\n`,
  )
  await run('chown', ['-R', `--reference=${join(home, 'cluster')}`, cluster])
}

/** `cp` fails when a file vanishes meanwhile. What is written is streamed to the standby later, and not copied. */
async function copyWhileItChanges(from: string, to: string): Promise<void> {
  const left = ['postmaster.pid', 'postmaster.opts', 'pg_wal/*'].map(
    (name) => `--exclude=cluster/${name}`,
  )
  const pack = spawn('tar', ['-C', from, ...left, '-cf', '-', 'cluster'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const unpack = spawn('tar', ['-C', to, '-xpf', '-'], {
    stdio: [pack.stdout, 'ignore', 'inherit'],
  })
  const [[packed], [unpacked]] = (await Promise.all([
    once(pack, 'exit'),
    once(unpack, 'exit'),
  ])) as [[number], [number]]
  // 1: a file changed while it was read, which the recovery of the copy repairs.
  if (packed > 1 || unpacked !== 0)
    throw new Error(`the copy of the database failed: ${packed}, ${unpacked}`)
}

async function makeSynchronous(primary: DatabaseProcess): Promise<void> {
  await untilStandbyIs(primary, 'async')
  await setSynchronousStandby(primary, STANDBY)
  await untilStandbyIs(primary, 'sync')
}

async function setSynchronousStandby(
  { databaseUrl }: DatabaseProcess,
  name: string,
): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    await client.query(`alter system set synchronous_standby_names = '${name}'`)
    await client.query('select pg_reload_conf()')
  })
}

/** A standby that still catches up is in neither of these states. */
async function untilStandbyIs(
  { databaseUrl }: DatabaseProcess,
  state: 'sync' | 'async',
): Promise<void> {
  const find = `select 1 from pg_stat_replication where state = 'streaming' and sync_state = '${state}'`
  for (const deadline = Date.now() + STANDBY_MS_MAX; Date.now() < deadline; await sleep(100)) {
    const found = await withClient(databaseUrl, (client) => client.query(find)).catch(
      () => undefined,
    )
    if (found?.rowCount === 1) return
  }
  throw new Error(`the standby does not become "${state}"`)
}
