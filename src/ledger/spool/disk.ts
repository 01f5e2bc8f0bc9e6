import * as fs from 'node:fs/promises'

/** The file system; tests give one that fails. */
export type Disk = Pick<
  typeof fs,
  'mkdir' | 'open' | 'readdir' | 'readFile' | 'rename' | 'stat' | 'unlink'
>

export const DISK: Disk = fs

/** A file that is new, renamed or deleted is so after a power failure only when its folder was synced. */
export async function syncFolder(disk: Disk, dir: string): Promise<void> {
  const folder = await disk.open(dir, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Nothing where there is none. */
export async function deleteFile(disk: Disk, path: string): Promise<void> {
  try {
    await disk.unlink(path)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}
