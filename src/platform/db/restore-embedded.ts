/**
 * Makes the embedded database of a new data folder from a backup, to the backup's end or, with the archived WAL of the
 * time after it, to a moment. PostgreSQL itself recovers when the server starts next.
 */
import { randomBytes } from 'node:crypto'
import { appendFile, chown, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  BackupFault,
  checkFile,
  CLUSTER,
  copyFileDurably,
  PASSWORD,
  readManifest,
  syncFolder,
  type BackupManifest,
} from './backup-manifest.ts'
import { runAs, type Account } from './embedded-users.ts'
import { locateCluster } from './embedded-cluster-dir.ts'

const WAL_TO_RESTORE = 'wal-to-restore'
const WAL_FILE = /^[0-9A-F]{24}$|^[0-9A-F]{8}\.history$/

export interface RestorePoint {
  /** The folder to which PostgreSQL archived its WAL. */
  readonly walFolder: string
  /** Transactions that were committed until then are restored. Undefined: all that the WAL has. */
  readonly until: Date | undefined
}

/**
 * Restores the embedded database from a backup. Throws a `BackupFault` for a damaged backup and for a data folder that
 * has a database.
 */
export async function restoreEmbedded(
  backup: string,
  dataDir: string,
  point?: RestorePoint,
): Promise<{ readonly manifest: BackupManifest; readonly folder: string }> {
  const manifest = await readManifest(backup)
  for (const file of manifest.files) await checkFile(backup, file)
  const account = runAs()
  const home = locateCluster(dataDir, account, () => {})
  const cluster = join(home, CLUSTER)
  if (existsSync(cluster))
    throw new BackupFault(`${home} has a database: restore into a new DATA_DIR`)
  const draft = `${cluster}.draft-${randomBytes(4).toString('hex')}`
  try {
    await fill(draft, { backup, manifest, point, home, account })
    await rename(draft, cluster)
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    throw error
  }
  await syncFolder(home)
  return { manifest, folder: home }
}

async function fill(
  draft: string,
  {
    backup,
    manifest,
    point,
    home,
    account,
  }: {
    readonly backup: string
    readonly manifest: BackupManifest
    readonly point: RestorePoint | undefined
    readonly home: string
    readonly account: Account
  },
): Promise<void> {
  await mkdir(draft, { mode: 0o700 })
  for (const folder of manifest.folders)
    if (folder !== CLUSTER) await mkdir(placeOf(folder, draft), { mode: 0o700 })
  for (const { path } of manifest.files)
    if (path !== PASSWORD) await copyFileDurably(join(backup, path), placeOf(path, draft))
  // The database that is given up may go on archiving, and both name their WAL files alike.
  await addSettings(draft, { archive_mode: 'off' })
  if (point) await prepareRecovery(point, home, draft, account)
  await giveTo(account, draft)
  await rm(join(home, PASSWORD), { force: true })
  await copyFileDurably(join(backup, PASSWORD), join(home, PASSWORD))
  await own(account, join(home, PASSWORD))
  for (const folder of manifest.folders) await syncFolder(placeOf(folder, draft))
}

/** The path of the backup `cluster/…` in the draft. */
function placeOf(path: string, draft: string): string {
  return join(draft, path.slice(CLUSTER.length))
}

/**
 * PostgreSQL reads the archived WAL from beside the cluster, by a path without anything to quote. It accepts no
 * connections until it takes writes, so that a server which starts meanwhile waits.
 */
async function prepareRecovery(
  { walFolder, until }: RestorePoint,
  home: string,
  draft: string,
  account: Account,
): Promise<void> {
  const wal = join(home, WAL_TO_RESTORE)
  await rm(wal, { recursive: true, force: true })
  await mkdir(wal, { mode: 0o700 })
  const names = (await readdir(walFolder)).filter((name) => WAL_FILE.test(name))
  if (names.length === 0) throw new BackupFault(`${walFolder} has no WAL`)
  for (const name of names) await copyFileDurably(join(walFolder, name), join(wal, name))
  await giveTo(account, wal)
  await addSettings(draft, {
    hot_standby: 'off',
    restore_command: `cp ../${WAL_TO_RESTORE}/%f %p`,
    recovery_target_action: 'promote',
    recovery_target_timeline: 'latest',
    // This setting takes no `T` and no `Z`.
    ...(until
      ? { recovery_target_time: until.toISOString().replace('T', ' ').replace('Z', '+00') }
      : {}),
  })
  await writeFile(join(draft, 'recovery.signal'), '')
}

/** Of two lines for one setting, PostgreSQL takes the last. */
async function addSettings(draft: string, settings: Record<string, string>): Promise<void> {
  await appendFile(
    join(draft, 'postgresql.auto.conf'),
    Object.entries(settings)
      .map(([name, value]) => `${name} = '${value}'\n`)
      .join(''),
  )
}

async function giveTo(account: Account, folder: string): Promise<void> {
  await own(account, folder)
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    await own(account, join(entry.parentPath, entry.name))
}

async function own({ ids }: Account, path: string): Promise<void> {
  if (ids.uid !== undefined) await chown(path, ids.uid, ids.gid ?? ids.uid)
}
