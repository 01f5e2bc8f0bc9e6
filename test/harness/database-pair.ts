/** A primary and a standby that streams from it, as processes of their own: the primary can be killed for good. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeStandby, waitForStandby, type RunningDatabase } from './standby.ts'
import { withClient } from './test-database.ts'

export interface DatabasePair {
  /** Both hosts, as libpq writes them. */
  readonly databaseUrl: string
  /** Of the first one alone. */
  readonly primaryUrl: string
  /** Of the standby alone. */
  readonly standbyUrl: string
  /** SIGKILL: nothing is written any more, and nothing starts it again. */
  killPrimary(): Promise<void>
  killStandby(): Promise<void>
  /** The standby takes writes when this resolves. */
  promote(): Promise<void>
  close(): Promise<void>
}

const PROGRAM = join(import.meta.dirname, 'start-database.ts')

/** A commit waits for the standby's disk, unless the standby is only to be read. */
export async function startDatabasePair(
  folder: string,
  { isSynchronous = true } = {},
): Promise<DatabasePair> {
  const first = await start(join(folder, 'first'))
  const secondDir = join(folder, 'second')
  await makeStandby(first, secondDir)
  const standby = await start(secondDir)
  if (isSynchronous) await waitForStandby(first.databaseUrl)
  const { port, username, password } = new URL(first.databaseUrl)
  const { port: standbyPort } = new URL(standby.databaseUrl)
  return {
    databaseUrl: `postgres://${username}:${password}@127.0.0.1:${port},127.0.0.1:${standbyPort}/catraca`,
    standbyUrl: standby.databaseUrl,
    primaryUrl: first.databaseUrl,
    killPrimary: () => first.kill(),
    killStandby: () => standby.kill(),
    async promote() {
      await withClient(standby.databaseUrl, (client) => client.query('select pg_promote(true, 60)'))
    },
    async close() {
      await first.kill()
      await standby.kill()
    },
  }
}

async function start(dataDir: string): Promise<RunningDatabase & { kill(): Promise<void> }> {
  const child = spawn(process.execPath, [PROGRAM, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.on('data', (data) => (text += String(data)))
  while (!text.endsWith('\n')) await Promise.race([once(child.stdout, 'data'), failWithEnd(child)])
  const started = JSON.parse(text) as RunningDatabase
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
