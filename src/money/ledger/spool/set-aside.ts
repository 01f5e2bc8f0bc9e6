import { join } from 'node:path'
import { isMissing, syncFolder, type Disk } from './disk.ts'
import type { Span } from './record-frames.ts'

/** A folder in the spool folder; the operator inspects its files and deletes them. */
const FOLDER = 'set-aside'

/** Writes one file for each unreadable piece. Idempotent. */
export async function setAside(
  disk: Disk,
  dir: string,
  name: string,
  bytes: Buffer,
  bad: readonly Span[],
): Promise<void> {
  if (bad.length === 0) return
  const folder = join(dir, FOLDER)
  await disk.mkdir(folder, { recursive: true, mode: 0o700 })
  for (const { start, end } of bad) {
    const handle = await disk.open(join(folder, `${name}@${start}`), 'w', 0o600)
    try {
      await handle.writeFile(bytes.subarray(start, end))
      await handle.datasync()
    } finally {
      await handle.close()
    }
  }
  await syncFolder(disk, folder)
  await syncFolder(disk, dir)
}

export async function countSetAside(disk: Disk, dir: string): Promise<number> {
  try {
    return (await disk.readdir(join(dir, FOLDER))).length
  } catch (error) {
    if (isMissing(error)) return 0
    throw error
  }
}
