/** The spool files of this process: its own and the ones taken over from dead processes. */
import { join } from 'node:path'
import type { Log } from '../../../platform/lib/log.ts'
import { isRunning, processIdentity } from '../../../platform/lib/process-identity.ts'
import {
  deleteFile,
  isMissing,
  syncFolder,
  type Disk,
  describeFile,
  parseFileName,
  readSpoolFile,
  type FileName,
  type SpoolFile,
} from './spool-file.ts'
import { alarmUnreadable } from './tidy-file.ts'
import type { WaitingHolds } from './waiting-holds.ts'

export interface OwnFiles {
  /** Sorted by number; replaced by a new list when a file is removed. */
  readonly list: readonly SpoolFile[]
  /** The file that rows are appended to, if any. */
  readonly current: SpoolFile | undefined
  /** The current file, or a new one if that is full or could not be cut back. */
  takeForAppend(): SpoolFile
  /** Later rows go to another file. */
  endCurrent(): void
  /** The file was taken over by another process, or deleted. */
  drop(file: SpoolFile): void
  /** Takes over the files of dead processes by renaming them, which only one process can do. */
  takeOver(): Promise<void>
}

/** A file is read whole, so this bounds the memory of a replay. */
const FILE_BYTES_MAX = 8 * 1024 * 1024

export async function openOwnFiles(options: {
  dir: string
  nodeId: string
  disk: Disk
  log: Log
  waiting: WaitingHolds
  /** False: the files of dead processes are left to another process. */
  takesOver?: boolean
}): Promise<OwnFiles> {
  const { dir, disk, log, waiting, takesOver = true } = options
  const self = processIdentity()
  let files: SpoolFile[] = []
  let current: SpoolFile | undefined
  /** Taken over and not read yet. */
  let unread: FileName[] = []
  let nextNumber = 0

  function drop(file: SpoolFile): void {
    if (file.waiting > 0) {
      log.error('spool_file_gone', { file: file.name, rows: file.waiting })
      waiting.forgetOthers(file, new Set())
    }
    files = files.filter((other) => other !== file)
    if (current === file) current = undefined
  }

  async function adopt(found: readonly FileName[]): Promise<void> {
    for (const file of found) {
      const name = `${self}${file.rest}`
      try {
        await disk.rename(join(dir, file.name), join(dir, name))
        unread.push({ ...file, name, writtenBy: self })
      } catch (error) {
        // Another process was first.
        if (!isMissing(error)) throw error
      }
      // An unfinished rewrite of a file by a process that died.
      await deleteFile(disk, join(dir, `${file.name}.new`))
    }
    if (found.length > 0) await syncFolder(disk, dir)
    const failed: FileName[] = []
    for (const name of unread) if (!(await readAdopted(name))) failed.push(name)
    unread = failed
    files = files.toSorted((a, b) => a.number - b.number)
    // Later rows must be in a file with a higher number than all of these.
    const last = files.at(-1)?.number ?? -1
    if (current && last > current.number) current = undefined
    nextNumber = Math.max(nextNumber, last + 1)
  }

  /** Listed only once it is read: until then it would look like a file without waiting rows. */
  async function readAdopted({ name, number }: FileName): Promise<boolean> {
    try {
      const file = describeFile(dir, name, number)
      file.end = (await disk.stat(file.path)).size
      const read = await readSpoolFile(disk, file)
      if (!read) return true
      const { rows, bad, tornBytes } = read.contents
      if (tornBytes > 0) log.warn('spool_tail_cut', { file: name, bytes: tornBytes })
      file.isOnDisk = true
      file.end -= tornBytes
      file.hasTail = tornBytes > 0
      alarmUnreadable(file, bad.length, log)
      file.holdsInFile = new Set(rows.map(({ id }) => id)).size
      for (const { id } of rows) waiting.note(id, file)
      files.push(file)
      return true
    } catch (error) {
      log.error('spool_file_unread', { file: name, error })
      return false
    }
  }

  const found = await listSpoolFiles(disk, dir)
  nextNumber = Math.max(-1, ...found.map(({ number }) => number)) + 1
  if (takesOver)
    await adopt(found.filter(({ writtenBy }) => writtenBy === self || !isRunning(writtenBy)))

  return {
    get list() {
      return files
    },
    get current() {
      return current
    },
    takeForAppend() {
      if (current && (current.hasTail || current.end >= FILE_BYTES_MAX)) current = undefined
      if (!current) {
        current = describeFile(dir, `${self}-${options.nodeId}.${nextNumber}.spool`, nextNumber)
        nextNumber += 1
        files.push(current)
      }
      return current
    },
    endCurrent() {
      current = undefined
    },
    drop,
    async takeOver() {
      if (!takesOver) return
      const names = await listSpoolFiles(disk, dir)
      const dead = names.filter(({ writtenBy }) => writtenBy !== self && !isRunning(writtenBy))
      if (dead.length + unread.length > 0) await adopt(dead)
    },
  }
}

async function listSpoolFiles(disk: Disk, dir: string): Promise<FileName[]> {
  const names = (await disk.readdir(dir)).map(parseFileName)
  return names.filter((name) => name !== undefined)
}
