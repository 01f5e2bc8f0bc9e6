import type { FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isMissing, syncFolder, type Disk } from './disk.ts'
import type { SpoolFile } from './spool-file.ts'

/** The rows were not kept: whoever gave them has to keep them elsewhere. */
export class SpoolAppendFailed extends Error {
  readonly code: string
  /**
   * False: these rows are on no disk, and nobody replays them. True: they could not be cut off again. This
   * process does not replay them, and cuts them off before it appends anything else and before it replays;
   * should it die before it can, the next process on the folder may replay them.
   */
  readonly mayRemain: boolean

  constructor(cause: unknown, mayRemain: boolean) {
    super('the spool could not keep a row', { cause })
    this.name = 'SpoolAppendFailed'
    this.code = (cause as NodeJS.ErrnoException).code ?? 'unknown'
    this.mayRemain = mayRemain
  }
}

/**
 * Appends to the file, on the disk when this resolves. Where a write fails, the file is cut back to its last
 * acknowledged record. `gone`: another process took the file; it may or may not have read these bytes.
 */
export async function appendDurably(
  disk: Disk,
  file: SpoolFile,
  bytes: Buffer,
): Promise<'kept' | 'gone'> {
  const handle = await openForAppend(disk, file)
  if (!handle) return 'gone'
  try {
    await writeAll(handle, bytes, file.end)
    await handle.datasync()
    // Its name is on the disk with its first record.
    if (file.end === 0) await syncFolder(disk, dirname(file.path))
    if (!(await isSameFile(disk, file, handle))) return 'gone'
    file.end += bytes.length
    return 'kept'
  } catch (error) {
    await cutTail(file, handle)
    throw new SpoolAppendFailed(error, file.hasTail)
  } finally {
    // What was to be kept is: an error of the closing changes nothing.
    await handle.close().catch(() => undefined)
  }
}

/** Tries once more to cut off what a failed write left. */
export async function cutTailAgain(disk: Disk, file: SpoolFile): Promise<void> {
  if (!file.hasTail) return
  const handle = await disk.open(file.path, 'r+').catch(() => undefined)
  if (!handle) return
  await cutTail(file, handle)
  await handle.close().catch(() => undefined)
}

async function openForAppend(disk: Disk, file: SpoolFile): Promise<FileHandle | undefined> {
  try {
    const handle = await disk.open(file.path, file.isOnDisk ? 'r+' : 'wx', 0o600)
    file.isOnDisk = true
    return handle
  } catch (error) {
    if (file.isOnDisk && isMissing(error)) return undefined
    throw new SpoolAppendFailed(error, file.hasTail)
  }
}

/** A write may be shorter than asked, as where the disk is full: the next one then says why. */
async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const left = bytes.length - done
    const { bytesWritten } = await handle.write(bytes, done, left, position + done)
    if (bytesWritten === 0) throw new Error('nothing was written')
    done += bytesWritten
  }
}

async function cutTail(file: SpoolFile, handle: FileHandle): Promise<void> {
  file.hasTail = true
  try {
    await handle.truncate(file.end)
    await handle.datasync()
    file.hasTail = false
  } catch {
    // The caller sees `hasTail`.
  }
}

/** Another process that takes this one for dead renames the file first and reads it then. */
async function isSameFile(disk: Disk, file: SpoolFile, handle: FileHandle): Promise<boolean> {
  try {
    const [ours, there] = await Promise.all([handle.stat(), disk.stat(file.path)])
    return ours.ino === there.ino && ours.dev === there.dev
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}
