import type { FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isMissing, syncFolder, type Disk, type SpoolFile } from './spool-file.ts'

/** Thrown when the rows were not stored: the caller must keep them elsewhere. */
export class SpoolAppendFailed extends Error {
  readonly code: string
  /**
   * False: these rows are on no disk, and no process replays them. True: they could not be cut off again. This process
   * does not replay them, and cuts them off before it appends or replays anything else; if it dies before that, the
   * next process on the folder may replay them.
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
 * Appends to the file; the rows are on the disk when this resolves. If a write fails, the file is cut back to its last
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
    // The first record also makes the name of the file durable.
    if (file.end === 0) await syncFolder(disk, dirname(file.path))
    if (!(await isSameFile(disk, file, handle))) return 'gone'
    file.end += bytes.length
    return 'kept'
  } catch (error) {
    await cutTail(file, handle)
    throw new SpoolAppendFailed(error, file.hasTail)
  } finally {
    // The rows are durable already: an error of the close changes nothing.
    await handle.close().catch(() => undefined)
  }
}

/** Retries cutting off the bytes of a failed write. */
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

/** A write may be short, for example on a full disk: the next write then reports the cause. */
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

/** A process that considers this one dead renames the file before it reads it. */
async function isSameFile(disk: Disk, file: SpoolFile, handle: FileHandle): Promise<boolean> {
  try {
    const [ours, there] = await Promise.all([handle.stat(), disk.stat(file.path)])
    return ours.ino === there.ino && ours.dev === there.dev
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

/** Runs the writes of files one at a time, in the order of their calls. */
export interface WriteOrder {
  add<T>(work: () => Promise<T>): Promise<T>
}

export function createWriteOrder(): WriteOrder {
  let last: Promise<unknown> = Promise.resolve()
  return {
    add(work) {
      const run = last.then(work)
      last = run.catch(() => undefined)
      return run
    },
  }
}
