import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Account } from './embedded-account.ts'

const SHARED_DIR = '/var/lib/catraca'

/**
 * The folder of the database: inside the data folder or, if the database's account cannot reach that (a checkout under
 * /root), in a folder elsewhere whose name is derived from the path of the data folder.
 */
export function locateCluster(
  dataDir: string,
  account: Account,
  log: (message: string) => void,
): string {
  const inside = join(resolve(dataDir), 'postgres')
  makeOwned(inside, account)
  if (account.ids.uid === undefined || isReachable(inside, account)) return inside
  const name = createHash('sha256').update(resolve(dataDir)).digest('hex').slice(0, 12)
  const outside = join(SHARED_DIR, name)
  makeOwned(outside, account)
  log(`the database is in ${outside}: its account cannot reach ${inside}`)
  return outside
}

function makeOwned(dir: string, account: Account): void {
  mkdirSync(dir, { recursive: true })
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
