import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import type { Account } from './embedded-users.ts'

const SHARED_DIR = '/var/lib/catraca'
const ID_FILE = 'id'

/**
 * Returns the folder of the database: inside the data folder or, if the database's account cannot reach that (a
 * checkout under /root), in a folder elsewhere. Its name consists of the path of the data folder and an id that the
 * data folder keeps, so that a data folder that was removed begins with a new database.
 */
export function locateCluster(
  dataDir: string,
  account: Account,
  log: (message: string) => void,
): string {
  const inside = join(resolve(dataDir), 'postgres')
  createWithId(inside)
  own(inside, account)
  if (account.ids.uid === undefined || isReachable(inside, account)) return inside
  const outside = clusterOutside(dataDir)
  mkdirSync(outside, { recursive: true })
  own(outside, account)
  log(`the database is in ${outside}: its account cannot reach ${inside}`)
  return outside
}

/** Returns the folders that `locateCluster` may have returned for a data folder, if they exist; creates none. */
export function findClusters(dataDir: string): string[] {
  const inside = join(resolve(dataDir), 'postgres')
  // The one in the data folder knows where the other one is, so it goes last.
  const folders = existsSync(join(inside, ID_FILE)) ? [clusterOutside(dataDir), inside] : [inside]
  return folders.filter((folder) => existsSync(folder))
}

function clusterOutside(dataDir: string): string {
  const hash = createHash('sha256').update(resolve(dataDir)).digest('hex').slice(0, 12)
  const id = readFileSync(join(resolve(dataDir), 'postgres', ID_FILE), 'utf8')
  return join(SHARED_DIR, `${hash}-${id}`)
}

/** The folder appears with its id or not at all, and of two processes that create it both find the same id. */
function createWithId(folder: string): void {
  if (existsSync(folder)) return
  const id = randomBytes(4).toString('hex')
  const draft = `${folder}.draft-${id}`
  mkdirSync(draft, { recursive: true })
  writeFileSync(join(draft, ID_FILE), id)
  try {
    renameSync(draft, folder)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
}

function own(dir: string, account: Account): void {
  chmodSync(dir, 0o700)
  if (account.ids.uid !== undefined)
    chownSync(dir, account.ids.uid, account.ids.gid ?? account.ids.uid)
}

/** Tries to access it instead of computing the permissions: access can be denied in many ways. */
function isReachable(dir: string, account: Account): boolean {
  return (
    spawnSync('/bin/sh', ['-c', 'test -w "$0" && test -x "$0"', dir], { ...account.ids, cwd: '/' })
      .status === 0
  )
}
