/**
 * Delivery notes that were compared with their charges. They are kept for a while: after a restore of an older backup
 * they alone tell which delivered answers the restored ledger does not have.
 */
import { mkdir, readdir, rename, stat, unlink } from 'node:fs/promises'
import { basename, join } from 'node:path'

export interface KeptNotes {
  readonly dir: string
  /** 0: none are kept. */
  readonly hours: number
}

/** The disk also has the spool, which must find room: 33 million answers. */
const BYTES_MAX = 1024 * 1024 * 1024

export async function keepNotes(path: string, { dir, hours }: KeptNotes): Promise<void> {
  if (hours === 0) return unlink(path)
  await mkdir(dir, { recursive: true, mode: 0o700 })
  await rename(path, join(dir, basename(path)))
}

/** Deletes the notes whose time is over, and the oldest ones of too many. */
export async function pruneKeptNotes(
  { dir, hours }: KeptNotes,
  nowMs: number,
  bytesMax = BYTES_MAX,
): Promise<void> {
  const names = await readdir(dir).catch(() => [])
  const files = await Promise.all(
    names.map(async (name) => {
      const path = join(dir, name)
      const { mtimeMs, size } = await stat(path)
      return { path, mtimeMs, size }
    }),
  )
  let bytes = 0
  for (const { path, mtimeMs, size } of files.toSorted(
    (one, other) => other.mtimeMs - one.mtimeMs,
  )) {
    bytes += size
    if (bytes > bytesMax || nowMs - mtimeMs > hours * 3_600_000) await unlink(path)
  }
}
