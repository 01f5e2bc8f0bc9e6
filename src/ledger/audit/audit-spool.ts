/** Charges that wait on the disk of a node are in no row: the audit can only say that they are there. */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

const WAITING_MS_MAX = 600_000
const SPOOL_FILE = /\.(?:spool|jsonl)$/

/**
 * The files of the spool that nothing was added to for ten minutes, which the database has not taken since, and those
 * of the folder `set-aside`: bytes that are no record and may have been charges.
 */
export async function findWaitingSpoolFiles(
  spoolDir: string,
  nowMs: number = Date.now(),
): Promise<string[]> {
  const names = await list(spoolDir)
  const waiting: string[] = []
  for (const name of names.filter((one) => SPOOL_FILE.test(one)).sort()) {
    // A file that is gone meanwhile was taken.
    const file = await stat(join(spoolDir, name)).catch(() => undefined)
    if (file && file.size > 0 && nowMs - file.mtimeMs > WAITING_MS_MAX) waiting.push(name)
  }
  const setAside = await list(join(spoolDir, 'set-aside'))
  return [...waiting, ...setAside.sort().map((name) => `set-aside/${name}`)]
}

async function list(dir: string): Promise<string[]> {
  return readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
}
