/** Charges that wait on a node's disk have no row yet: the audit can only report that they exist. */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

const WAITING_MS_MAX = 600_000

/**
 * Returns spool files without a new record for ten minutes that still have rows for the database, and the files in
 * `set-aside`: unreadable bytes that may have been charges.
 */
export async function findWaitingSpoolFiles(
  spoolDir: string,
  nowMs: number = Date.now(),
): Promise<string[]> {
  const names = await list(spoolDir)
  const waiting: string[] = []
  for (const name of names.filter((one) => one.endsWith('.spool')).sort()) {
    // A file that disappears meanwhile was replayed.
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
