/**
 * A primary and a synchronous standby, as processes of their own, and what a manager of fail-overs does with them: the
 * standby is promoted, and a new one is made of the old primary.
 */
import { join } from 'node:path'
import { startDatabaseProcess, type DatabaseProcess } from './database-process.ts'
import {
  copyPrimary,
  makeStandby,
  setSynchronousStandby,
  untilStandbyIs,
  waitForStandby,
} from './standby.ts'
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

/** The standby comes back soon after the primary was away, and still finds what was written meanwhile. */
const SETTINGS = { wal_retrieve_retry_interval: '500ms', wal_keep_size: '512MB' }

/** A commit waits for the standby's disk, unless the standby is only to be read. */
export async function startDatabasePair(
  folder: string,
  { isSynchronous = true } = {},
): Promise<DatabasePair> {
  const secondDir = join(folder, 'second')
  let primary = await startDatabaseProcess(join(folder, 'first'))
  await withClient(primary.databaseUrl, async (client) => {
    for (const [name, value] of Object.entries(SETTINGS))
      await client.query(`alter system set ${name} = '${value}'`)
    await client.query('select pg_reload_conf()')
  })
  await makeStandby(primary, secondDir)
  let standby = await startDatabaseProcess(secondDir)
  if (isSynchronous) await waitForStandby(primary.databaseUrl)
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
    untilSynchronous: () => untilStandbyIs(primary.databaseUrl, 'sync'),
    goOnAlone: () => setSynchronousStandby(primary.databaseUrl, ''),
    async promote() {
      await withClient(standby.databaseUrl, (client) => client.query('select pg_promote(true, 60)'))
      ;[primary, standby] = [standby, primary]
    },
    async rejoin() {
      await copyPrimary(primary, standby.folder)
      await standby.start()
      await waitForStandby(primary.databaseUrl)
    },
    async close() {
      await standby.kill()
      await primary.kill()
    },
  }
}
