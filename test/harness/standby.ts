/** Makes the files of a standby that streams from a running database, and says whether commits wait for it. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { runAs } from '../../src/platform/db/embedded-users.ts'
import { locateCluster } from '../../src/platform/db/embedded-cluster-dir.ts'
import { withClient } from './test-database.ts'

export interface RunningDatabase {
  readonly databaseUrl: string
  /** With the folder `cluster` and the file `password`. */
  readonly folder: string
}

const STANDBY = 'standby'
const STANDBY_MS_MAX = 120_000
const run = promisify(execFile)

/** `startEmbedded` with this data folder then starts the standby. */
export async function makeStandby(primary: RunningDatabase, dataDir: string): Promise<void> {
  await mkdir(dataDir)
  const folder = locateCluster(dataDir, runAs(), () => {})
  await run('cp', ['-a', join(primary.folder, 'password'), folder])
  await copyPrimary(primary, folder)
}

/** Replaces the cluster in this folder by a standby of the primary, which goes on meanwhile. */
export async function copyPrimary(
  { databaseUrl, folder }: RunningDatabase,
  to: string,
): Promise<void> {
  const cluster = join(to, 'cluster')
  await rm(cluster, { recursive: true, force: true })
  await withClient(databaseUrl, async (client) => {
    await client.query(`select pg_backup_start('copy', true)`)
    await copyWhileItChanges(folder, to)
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
  await run('chown', ['-R', `--reference=${join(folder, 'cluster')}`, cluster])
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

/** From now on a commit waits for the standby's disk. */
export async function waitForStandby(databaseUrl: string): Promise<void> {
  await untilStandbyIs(databaseUrl, 'async')
  await setSynchronousStandby(databaseUrl, STANDBY)
  await untilStandbyIs(databaseUrl, 'sync')
}

/** Without a name, commits wait for no standby. */
export async function setSynchronousStandby(
  databaseUrl: string,
  name: typeof STANDBY | '',
): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    await client.query(`alter system set synchronous_standby_names = '${name}'`)
    await client.query('select pg_reload_conf()')
  })
}

/** A standby that still catches up is in neither of these states. */
export async function untilStandbyIs(databaseUrl: string, state: 'sync' | 'async'): Promise<void> {
  const find = `select 1 from pg_stat_replication where state = 'streaming' and sync_state = '${state}'`
  for (const deadline = Date.now() + STANDBY_MS_MAX; Date.now() < deadline; await sleep(100)) {
    const found = await withClient(databaseUrl, (client) => client.query(find)).catch(
      () => undefined,
    )
    if (found?.rowCount === 1) return
  }
  throw new Error(`the standby does not become "${state}"`)
}
