/** Makes the files of a standby that streams from a running database. */
import { execFile } from 'node:child_process'
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { runAs } from '../../src/db/embedded-account.ts'
import { locateCluster } from '../../src/db/embedded-cluster-dir.ts'
import { withClient } from './test-database.ts'

export interface RunningDatabase {
  readonly databaseUrl: string
  /** Its files. */
  readonly folder: string
}

const NAME = 'standby'
const copy = promisify(execFile)

/** `startEmbedded` with this data folder then starts the standby. */
export async function makeStandby(primary: RunningDatabase, dataDir: string): Promise<void> {
  await mkdir(dataDir)
  const home = locateCluster(dataDir, runAs(), () => {})
  const cluster = join(home, 'cluster')
  await withClient(primary.databaseUrl, async (client) => {
    await client.query(`select pg_backup_start('copy', true)`)
    await copy('cp', [
      '-a',
      join(primary.folder, 'cluster'),
      join(primary.folder, 'password'),
      home,
    ])
    const { rows } = await client.query<{ labelfile: string }>(
      'select labelfile from pg_backup_stop(false)',
    )
    await rm(join(cluster, 'postmaster.pid'))
    await writeFile(join(cluster, 'backup_label'), rows[0]?.labelfile ?? '')
  })
  await writeFile(join(cluster, 'standby.signal'), '')
  const { port, username, password } = new URL(primary.databaseUrl)
  await appendFile(
    join(cluster, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${port} user=${username} password=${password} application_name=${NAME}'\n`,
  )
  await copy('chown', ['-R', `--reference=${join(primary.folder, 'cluster')}`, cluster])
}

/** From now on a commit waits for the standby's disk. */
export async function waitForStandby(databaseUrl: string): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    await client.query(`alter system set synchronous_standby_names = '${NAME}'`)
    await client.query('select pg_reload_conf()')
    for (let isSynchronous = false; !isSynchronous; await sleep(50)) {
      const { rowCount } = await client.query(
        `select 1 from pg_stat_replication where sync_state = 'sync'`,
      )
      isSynchronous = rowCount === 1
    }
  })
}
