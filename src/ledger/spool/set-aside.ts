import { join } from 'node:path'
import { isMissing, syncFolder, type Disk } from './disk.ts'
import type { Span } from './record-frames.ts'

/** Under the spool; whoever runs the service looks at what is in there, and deletes it. */
const FOLDER = 'set-aside'

/** One file for each run of bytes that is no record. Doing it again changes nothing. */
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
