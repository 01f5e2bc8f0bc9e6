/**
 * A base backup of the embedded PostgreSQL while it runs, by PostgreSQL's low-level API: its files are copied between
 * `pg_backup_start` and `pg_backup_stop`, with the WAL of that time, from which a restore makes them consistent. A slot
 * keeps the WAL meanwhile, and ends with the connection.
 */
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import pg from 'pg'
import {
  BackupFault,
  checkFile,
  CLUSTER,
  copyFileDurably,
  MANIFEST,
  PASSWORD,
  syncFolder,
  type BackupFile,
  type BackupManifest,
} from './backup-manifest.ts'

/** Files of a running server, which a restored one makes anew; of these folders only the folder is kept. */
const WITHOUT_CONTENT: ReadonlySet<string> = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
])
const LEFT_OUT =
  /^(postmaster\.(pid|opts)|backup_label(\.old)?|tablespace_map(\.old)?|backup_manifest)$/
const LEFT_OUT_ANYWHERE = /^(pgsql_tmp|pg_internal\.init)/
const SEGMENT = /^[0-9A-F]{24}$/
const CONTROL_FILE = 'global/pg_control'
/** PostgreSQL writes the control file in one piece; a reading beside a write could still see two halves. */
const CONTROL_TRIES = 100

/** Copies the embedded database, whose folder is `home`. `to` must not exist; it appears as a whole or not at all. */
export async function backupEmbedded(
  databaseUrl: string,
  home: string,
  to: string,
): Promise<BackupManifest> {
  if (await exists(to)) throw new BackupFault(`${to} exists already: name a new folder`)
  const draft = `${to}.draft-${process.pid}`
  const client = new pg.Client({ connectionString: databaseUrl })
  // Its end fails the statement that waits.
  client.on('error', () => {})
  await client.connect()
  try {
    await mkdir(join(draft, CLUSTER), { recursive: true, mode: 0o700 })
    const manifest = await copyCluster(client, join(home, CLUSTER), home, draft)
    await writeFile(join(draft, MANIFEST), `${JSON.stringify(manifest, undefined, 1)}\n`, {
      mode: 0o600,
      flush: true,
    })
    for (const file of manifest.files) await checkFile(draft, file)
    for (const folder of manifest.folders) await syncFolder(join(draft, folder))
    await syncFolder(draft)
    await rename(draft, to)
    await syncFolder(dirname(to))
    return manifest
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    throw error
  } finally {
    await client.end().catch(() => {})
  }
}

async function copyCluster(
  client: pg.Client,
  cluster: string,
  home: string,
  draft: string,
): Promise<BackupManifest> {
  const startedAt = new Date().toISOString()
  const ask = async (text: string, values: unknown[] = []): Promise<Record<string, string>> =>
    (await client.query<Record<string, string>>(text, values)).rows[0] ?? {}
  const { tablespaces } = await ask(
    `select count(*) as tablespaces from pg_tablespace where spcname not in ('pg_default', 'pg_global')`,
  )
  if (tablespaces !== '0') throw new BackupFault('the database has tablespaces: use pg_basebackup')
  await ask(`select pg_create_physical_replication_slot($1, true, true)`, [
    `catraca_backup_${process.pid}`,
  ])
  const { lsn: startLsn = '' } = await ask(`select pg_backup_start('catraca', true) as lsn`)

  const files: BackupFile[] = []
  const folders: string[] = [CLUSTER]
  const add = async (from: string, path: string): Promise<void> => {
    files.push({ path, ...(await copyFileDurably(from, join(draft, path))) })
  }
  for await (const { path, isFolder } of listCluster(cluster, '')) {
    const field = `${CLUSTER}/${path}`
    if (isFolder) {
      await mkdir(join(draft, field), { mode: 0o700 })
      folders.push(field)
    } else if (path !== CONTROL_FILE) {
      await add(join(cluster, path), field).catch(async (error: unknown) => {
        // A table that was dropped meanwhile.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
        await rm(join(draft, field), { force: true })
      })
    }
  }
  await writeNew(join(draft, CLUSTER, CONTROL_FILE), await readControlFile(cluster))
  // What was committed by now is in the backup.
  const endedAt = new Date().toISOString()
  const stopped = await ask(
    `select lsn::text, labelfile, spcmapfile from pg_backup_stop(wait_for_archive => false)`,
  )
  const { lsn: stopLsn = '', labelfile = '' } = stopped
  await writeNew(join(draft, CLUSTER, 'backup_label'), labelfile)
  for (const path of [CONTROL_FILE, 'backup_label'])
    files.push(await describe(draft, `${CLUSTER}/${path}`))
  for (const name of await listWal(client, cluster, startLsn, stopLsn))
    await add(join(cluster, 'pg_wal', name), `${CLUSTER}/pg_wal/${name}`)
  await add(join(home, PASSWORD), PASSWORD)
  const { server_version: postgresVersion = '' } = await ask('show server_version')
  return { format: 1, startedAt, endedAt, startLsn, stopLsn, postgresVersion, files, folders }
}

async function* listCluster(
  cluster: string,
  under: string,
): AsyncGenerator<{ path: string; isFolder: boolean }> {
  const entries = await readdir(join(cluster, under), { withFileTypes: true })
  for (const entry of entries) {
    const path = under === '' ? entry.name : `${under}/${entry.name}`
    if (LEFT_OUT_ANYWHERE.test(entry.name) || (under === '' && LEFT_OUT.test(entry.name))) continue
    if (entry.isDirectory()) {
      yield { path, isFolder: true }
      if (!WITHOUT_CONTENT.has(path)) yield* listCluster(cluster, path)
    } else if (entry.isFile()) yield { path, isFolder: false }
  }
}

async function readControlFile(cluster: string): Promise<Buffer> {
  let last = await readFile(join(cluster, CONTROL_FILE))
  for (let turn = 0; turn < CONTROL_TRIES; turn++) {
    const again = await readFile(join(cluster, CONTROL_FILE))
    if (again.equals(last)) return again
    last = again
  }
  throw new BackupFault('the control file of the database changes without end')
}

/** The names of every segment from the beginning of the backup to its end, and of the histories of timelines. */
async function listWal(
  client: pg.Client,
  cluster: string,
  startLsn: string,
  stopLsn: string,
): Promise<string[]> {
  const { rows } = await client.query<{ first: string; last: string; bytes: number }>(
    `select pg_walfile_name($1::pg_lsn) as first, pg_walfile_name($2::pg_lsn) as last,
      (select setting::int4 from pg_settings where name = 'wal_segment_size') as bytes`,
    [startLsn, stopLsn],
  )
  const { first = '', last = '', bytes = 0 } = rows[0] ?? {}
  const names = await readdir(join(cluster, 'pg_wal'))
  const segments = names.filter((name) => SEGMENT.test(name) && name >= first && name <= last)
  const wanted = numberOf(last, bytes) - numberOf(first, bytes) + 1
  if (segments.length !== wanted)
    throw new BackupFault(`${wanted - segments.length} segments of the WAL are gone`)
  return [...segments.sort(), ...names.filter((name) => name.endsWith('.history'))]
}

/** A segment's number: its name has the timeline, the upper half of its position, and its place within that. */
function numberOf(name: string, segmentBytes: number): number {
  const upper = Number.parseInt(name.slice(8, 16), 16)
  return upper * (2 ** 32 / segmentBytes) + Number.parseInt(name.slice(16), 16)
}

async function writeNew(path: string, content: string | Buffer): Promise<void> {
  await writeFile(path, content, { mode: 0o600, flag: 'wx', flush: true })
}

async function describe(folder: string, path: string): Promise<BackupFile> {
  const content = await readFile(join(folder, path))
  const digest = await crypto.subtle.digest('SHA-256', content)
  return { path, bytes: content.length, sha256: Buffer.from(digest).toString('hex') }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
