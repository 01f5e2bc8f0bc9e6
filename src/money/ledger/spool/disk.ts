import * as fs from 'node:fs/promises'

/** The file system; tests pass one that fails. */
export type Disk = Pick<
  typeof fs,
  'mkdir' | 'open' | 'readdir' | 'readFile' | 'rename' | 'stat' | 'unlink'
>

export const DISK: Disk = fs

/** Creating, renaming or deleting a file survives a power failure only once its folder is synced. */
export async function syncFolder(disk: Disk, dir: string): Promise<void> {
  const folder = await disk.open(dir, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Does nothing if the file does not exist. */
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
