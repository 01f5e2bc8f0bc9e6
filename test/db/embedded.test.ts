// deep: starts processes
/** The embedded PostgreSQL with real processes and real folders, ended in every way there is. */
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, afterEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { removeEmbedded } from '../../src/platform/db/remove-embedded.ts'
import { startEmbedded, type EmbeddedPostgres } from '../../src/platform/db/embedded.ts'
import { isAlive } from '../../src/platform/lib/process-identity.ts'
import { memoryFolder } from '../harness/memory-folder.ts'
import { prepareCluster } from '../harness/prepared-cluster.ts'
import { withClient } from '../harness/test-database.ts'

const root = join(import.meta.dirname, '../..')
const UNTIL_MS_MAX = 30_000

const prepared = await prepareCluster()
const folders: string[] = []
const started: EmbeddedPostgres[] = []
const children: ChildProcess[] = []

afterEach(async () => {
  for (const child of children.splice(0)) await kill(child)
  for (const database of started.splice(0)) await database.stop()
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})
after(() => prepared.remove())

async function makeDataDir({ mode = 0o755 } = {}): Promise<string> {
  const folder = await mkdtemp(join(memoryFolder(), 'catraca-embedded-'))
  folders.push(folder)
  // The account that runs the database for root could not open this folder, and the data would go elsewhere.
  await chmod(folder, mode)
  return folder
}

/** A data folder whose database was started once, and stopped. */
async function makeUsedDataDir(): Promise<string> {
  const dataDir = await makeDataDir()
  await prepared.putInto(dataDir)
  return dataDir
}

async function start(dataDir: string): Promise<EmbeddedPostgres> {
  const database = await startEmbedded({ dataDir, log: () => {} })
  started.push(database)
  return database
}

interface Holder {
  readonly url: string
  readonly process: ChildProcess
  /** Lets the process stop its database and exit. */
  leave(): Promise<void>
}

const HOLDER = `
  import { startEmbedded } from './src/platform/db/embedded.ts'
  const database = await startEmbedded({ dataDir: process.env.DATA_DIR, log: () => {} })
  console.log(database.databaseUrl)
  process.stdin.on('end', () => database.stop().then(() => process.exit(0))).resume()
`

function spawnHolder(dataDir: string) {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', HOLDER], {
    cwd: root,
    env: { ...process.env, DATA_DIR: dataDir },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  children.push(child)
  return child
}

/** Another process that uses the database of this folder. */
async function startHolder(dataDir: string): Promise<Holder> {
  const child = spawnHolder(dataDir)
  for await (const url of createInterface({ input: child.stdout })) {
    return {
      url,
      process: child,
      async leave() {
        child.stdin.end()
        assert.deepEqual(await once(child, 'exit'), [0, null])
      },
    }
  }
  throw new Error('the holder ended without an address')
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

async function query(url: string, text: string): Promise<unknown[]> {
  const { rows } = await withClient(url, (client) => client.query({ text, rowMode: 'array' }))
  return rows.map((row: unknown[]) => row[0])
}

async function insert(url: string, ...numbers: number[]): Promise<void> {
  await withClient(url, async (client) => {
    await client.query('create table if not exists kept (n int primary key)')
    await client.query('insert into kept select unnest($1::int[])', [numbers])
  })
}

const rowsOf = (url: string): Promise<unknown[]> => query(url, 'select n from kept order by n')

async function clusterOf(url: string): Promise<string> {
  const [folder] = await query(url, `select current_setting('data_directory')`)
  return folder as string
}

const postmasterOf = (cluster: string): number =>
  Number(readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')[0])

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + UNTIL_MS_MAX; !(await holds()); await sleep(2))
    assert.ok(Date.now() < deadline, `waited in vain until ${what}`)
}

test('a start creates a durable database, a stop ends it, and the next start has its rows', async () => {
  const dataDir = await makeDataDir()
  const first = await start(dataDir)
  const settings = `select name || '=' || setting from pg_settings
    where name in ('fsync', 'full_page_writes', 'synchronous_commit', 'data_checksums') order by 1`
  assert.deepEqual(await query(first.databaseUrl, settings), [
    'data_checksums=on',
    'fsync=on',
    'full_page_writes=on',
    'synchronous_commit=on',
  ])
  await insert(first.databaseUrl, 1, 2)
  const cluster = await clusterOf(first.databaseUrl)
  const postmaster = postmasterOf(cluster)
  await first.stop()
  assert.equal(isAlive(postmaster), false, 'the postmaster is gone')
  await assert.rejects(rowsOf(first.databaseUrl), { code: /ECONNREFUSED|ENOENT/ })

  const second = await start(dataDir)
  assert.equal(await clusterOf(second.databaseUrl), cluster)
  assert.deepEqual(await rowsOf(second.databaseUrl), [1, 2])
})

test('it listens on this machine only, and refuses connections without its password', async () => {
  const { databaseUrl } = await start(await makeUsedDataDir())
  const [addresses] = await query(databaseUrl, `select current_setting('listen_addresses')`)
  assert.equal(addresses, '127.0.0.1')
  for (const password of ['', 'wrong', 'catraca']) {
    const url = new URL(databaseUrl)
    url.password = password
    const client = new pg.Client({ connectionString: url.href })
    await assert.rejects(client.connect(), /password/)
  }
})

test('its log has the error of a refused row, and none of its values', async () => {
  const database = await start(await makeUsedDataDir())
  const refused = (code: string) => (text: string, values: unknown[]) =>
    withClient(database.databaseUrl, (client) =>
      assert.rejects(client.query(text, values), { code }),
    )
  await query(
    database.databaseUrl,
    'create table people (email text unique, age int check (age > 0))',
  )
  const insert = 'insert into people (email, age) values ($1, $2)'
  const email = 'ana.souza@exemplo.com.br'
  await withClient(database.databaseUrl, (client) => client.query(insert, [email, 1]))
  await refused('23505')(insert, [email, 1])
  await refused('23514')(insert, [`outra.${email}`, -1])
  const log = readFileSync(join(database.folder, 'postgres.log'), 'utf8')
  assert.match(log, /duplicate key value violates unique constraint "people_email_key"/)
  assert.match(log, /violates check constraint "people_age_check"/)
  assert.ok(!log.includes(email), log)
})

test('processes that start it at once on an empty folder share one database', async () => {
  const dataDir = await makeDataDir()
  const holders = await Promise.all([1, 2, 3].map(() => startHolder(dataDir)))
  assert.equal(new Set(holders.map((holder) => holder.url)).size, 1)
  for (const [index, holder] of holders.entries()) await insert(holder.url, index)
  for (const holder of holders) assert.deepEqual(await rowsOf(holder.url), [0, 1, 2])
  const postmaster = postmasterOf(await clusterOf(holders[0]?.url ?? ''))
  await Promise.all(holders.map((holder) => holder.leave()))
  assert.equal(isAlive(postmaster), false, 'when all leave at once, it is stopped all the same')
})

test('the database runs until its last user stops', async () => {
  const dataDir = await makeUsedDataDir()
  const holder = await startHolder(dataDir)
  const [one, two] = await Promise.all([start(dataDir), start(dataDir)])
  assert.deepEqual([one.databaseUrl, two.databaseUrl], [holder.url, holder.url])
  await insert(holder.url, 1)
  const postmaster = postmasterOf(await clusterOf(holder.url))
  await one.stop()
  assert.deepEqual(await rowsOf(holder.url), [1])
  await holder.leave()
  assert.deepEqual(await rowsOf(two.databaseUrl), [1])
  await two.stop()
  assert.equal(isAlive(postmaster), false)
})

test('a killed process leaves the database running, the next process attaches, and its stop ends it', async () => {
  const dataDir = await makeUsedDataDir()
  const holder = await startHolder(dataDir)
  await insert(holder.url, 1, 2, 3)
  const postmaster = postmasterOf(await clusterOf(holder.url))
  await kill(holder.process)
  assert.deepEqual(await rowsOf(holder.url), [1, 2, 3])

  const next = await start(dataDir)
  assert.equal(next.databaseUrl, holder.url)
  assert.equal(postmasterOf(await clusterOf(next.databaseUrl)), postmaster)
  assert.deepEqual(await rowsOf(next.databaseUrl), [1, 2, 3])
  await next.stop()
  assert.equal(isAlive(postmaster), false, 'the dead user does not count')
})

test('a database that is killed under its server restarts at the same address, and no commit is lost', async () => {
  const { databaseUrl } = await start(await makeUsedDataDir())
  await insert(databaseUrl, 1, 2, 3)
  const cluster = await clusterOf(databaseUrl)
  const postmaster = postmasterOf(cluster)
  process.kill(postmaster, 'SIGKILL')
  await until('it answers again', () =>
    rowsOf(databaseUrl).then(
      () => postmasterOf(cluster) !== postmaster,
      () => false,
    ),
  )
  assert.deepEqual(await rowsOf(databaseUrl), [1, 2, 3])
})

test('after a kill of server and database the next start recovers every commit', async () => {
  const dataDir = await makeUsedDataDir()
  const holder = await startHolder(dataDir)
  await insert(holder.url, 1)
  const postmaster = postmasterOf(await clusterOf(holder.url))
  const writes = Promise.allSettled([2, 3, 4, 5].map((n) => insert(holder.url, n).then(() => n)))
  await kill(holder.process)
  process.kill(postmaster, 'SIGKILL')
  const committed = (await writes).flatMap((write) =>
    write.status === 'fulfilled' ? [write.value] : [],
  )

  const next = await start(dataDir)
  const found = await rowsOf(next.databaseUrl)
  assert.notEqual(postmasterOf(await clusterOf(next.databaseUrl)), postmaster)
  for (const n of [1, ...committed]) assert.ok(found.includes(n), `row ${n} of ${found.join()}`)
})

test('a pid file of a dead process, or of a process that is no database, does not prevent a start', async () => {
  const dataDir = await makeUsedDataDir()
  const first = await start(dataDir)
  await insert(first.databaseUrl, 1)
  const cluster = await clusterOf(first.databaseUrl)
  const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')
  await first.stop()
  const gone = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
  await once(gone, 'exit')
  for (const pid of [gone.pid, process.pid]) {
    await writeFile(join(cluster, 'postmaster.pid'), [pid, ...lines.slice(1)].join('\n'))
    const next = await start(dataDir)
    assert.deepEqual(await rowsOf(next.databaseUrl), [1])
    await next.stop()
  }
})

test('a pid file that names the postmaster of another database does not prevent a start', async () => {
  const dataDir = await makeUsedDataDir()
  const other = await start(await makeUsedDataDir())
  const otherCluster = await clusterOf(other.databaseUrl)
  const first = await start(dataDir)
  await insert(first.databaseUrl, 1)
  const cluster = await clusterOf(first.databaseUrl)
  const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')
  await first.stop()
  // After a reboot of the machine another process may have the pid.
  const pid = postmasterOf(otherCluster)
  await writeFile(join(cluster, 'postmaster.pid'), [pid, ...lines.slice(1)].join('\n'))
  const next = await start(dataDir)
  assert.deepEqual(await rowsOf(next.databaseUrl), [1])
  await next.stop()
  assert.ok(isAlive(pid), 'the other database was not stopped in its place')
})

test('a start waits for a running database that is slow to answer', async () => {
  const dataDir = await makeUsedDataDir()
  const holder = await startHolder(dataDir)
  await insert(holder.url, 1)
  const postmaster = postmasterOf(await clusterOf(holder.url))
  await kill(holder.process)
  // Longer than the time limit of the first attempt.
  process.kill(postmaster, 'SIGSTOP')
  const woken = sleep(4_000).then(() => process.kill(postmaster, 'SIGCONT'))
  try {
    const next = await start(dataDir)
    assert.deepEqual(await rowsOf(next.databaseUrl), [1])
    assert.equal(postmasterOf(await clusterOf(next.databaseUrl)), postmaster)
  } finally {
    await woken
    if (started.length === 0) process.kill(postmaster, 'SIGINT')
  }
})

test('a lock that a kill in the middle of a start left behind is broken', async () => {
  const dataDir = await makeUsedDataDir()
  const first = await start(dataDir)
  await insert(first.databaseUrl, 1)
  const home = dirname(await clusterOf(first.databaseUrl))
  await first.stop()
  const gone = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
  await once(gone, 'exit')
  await writeFile(join(home, 'start.lock'), String(gone.pid))
  const next = await start(dataDir)
  assert.deepEqual(await rowsOf(next.databaseUrl), [1])
})

test('a lock that no running start holds is broken, even if it is empty or its pid belongs to another process now', async () => {
  // Either a kill between creating the file and writing to it, or a container, where every start has the same pid.
  const broken = ['', `${process.pid}.1`].map(async (left) => {
    const dataDir = await makeUsedDataDir()
    const home = join(dataDir, 'postgres')
    await writeFile(join(home, 'start.lock'), left)
    const database = await start(dataDir)
    assert.equal(await clusterOf(database.databaseUrl), join(home, 'cluster'))
  })
  const outcomes = await Promise.allSettled(broken)
  assert.deepEqual(
    outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : [])),
    [],
  )
})

/** The files in the cluster's folder, under any of its names while it is created; none if there is no folder yet. */
function clusterFiles(dataDir: string): string[] {
  try {
    const home = join(dataDir, 'postgres')
    const folders = readdirSync(home).filter((name) => name.startsWith('cluster'))
    return folders.flatMap((name) =>
      ['', ...readdirSync(join(home, name))].map((f) => join(name, f)),
    )
  } catch {
    return []
  }
}

for (const [moment, isReached] of Object.entries({
  'made its folder': (files) => files.length > 0,
  'wrote its first files': (files) => files.some((file) => file.endsWith('/PG_VERSION')),
  'made its first table': (files) => files.some((file) => file.endsWith('/global')),
  'had all files': (files) => files.includes('cluster/PG_VERSION'),
  'launched the database': (files) => files.includes('cluster/postmaster.pid'),
} satisfies Record<string, (files: string[]) => boolean>)) {
  test(`the next start repairs a first start that was killed when it ${moment}`, async () => {
    const dataDir = await makeDataDir()
    const child = spawnHolder(dataDir)
    await until(`it ${moment}`, () => isReached(clusterFiles(dataDir)))
    await kill(child)
    const next = await start(dataDir)
    await insert(next.databaseUrl, 1)
    assert.deepEqual(await rowsOf(next.databaseUrl), [1])
  })
}

test(
  "a data folder that the database's account cannot enter works, and the next start finds its data",
  { skip: process.getuid?.() === 0 ? false : 'only root lends the database another account' },
  async () => {
    const dataDir = await makeDataDir({ mode: 0o700 })
    const first = await start(dataDir)
    await insert(first.databaseUrl, 1)
    const cluster = await clusterOf(first.databaseUrl)
    folders.push(dirname(cluster))
    await first.stop()
    const second = await start(dataDir)
    assert.equal(await clusterOf(second.databaseUrl), cluster)
    assert.deepEqual(await rowsOf(second.databaseUrl), [1])
    const other = await start(await makeDataDir())
    assert.notEqual(await clusterOf(other.databaseUrl), cluster)

    await second.stop()
    await rm(join(dataDir, 'postgres'), { recursive: true })
    const third = await start(dataDir)
    const fresh = await clusterOf(third.databaseUrl)
    folders.push(dirname(fresh))
    assert.notEqual(fresh, cluster, 'a data folder that was removed begins anew')
    assert.equal((await removeEmbedded(dataDir)).kind, 'in_use')
    await third.stop()
    const removed = [third.folder, join(dataDir, 'postgres')]
    assert.deepEqual(await removeEmbedded(dataDir), { kind: 'removed', folders: removed })
    assert.deepEqual(removed.filter(existsSync), [])
  },
)
