import { dirname, join } from 'node:path'
import type { Log } from '../../../platform/lib/log.ts'
import type { ResolutionRow } from '../resolution.ts'
import { cutTailAgain } from './append-durably.ts'
import {
  deleteFile,
  syncFolder,
  type Disk,
  isMissing,
  readSpoolFile,
  type SpoolFile,
} from './spool-file.ts'
import { frameRow, type Span } from './record-frames.ts'
import type { WaitingHolds } from './waiting-holds.ts'

/** A folder in the spool folder; the operator inspects its files and deletes them. */
const FOLDER = 'set-aside'

/** Writes one file for each unreadable piece. Idempotent. */
async function setAside(
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

/** Whether the file has more than its waiting rows. */
export function isUntidy(file: SpoolFile): boolean {
  return file.waiting < file.holdsInFile || file.waiting === 0 || file.hasBad || file.hasTail
}

/**
 * Rewrites the file with only the rows that still wait, or deletes it if none does. Unreadable bytes are copied aside
 * first. The new file replaces the old one by a rename, so at each moment the disk has either all rows or the waiting
 * ones. True if the file is deleted.
 *
 * Files are tidied in the order of their numbers. `stale`: holds of which an earlier file still has superseded rows,
 * because the disk failed. Their later rows must stay too, or a process that starts after a crash would take the earlier
 * rows for the newest. The holds of a file that stays unchanged are added to `stale`.
 */
export async function tidyFile(
  disk: Disk,
  file: SpoolFile,
  stale: Set<string>,
  { waiting, log }: { waiting: WaitingHolds; log: Log },
): Promise<boolean> {
  await cutTailAgain(disk, file)
  const read = await readSpoolFile(disk, file)
  if (!read) return true
  const { rows, bad } = read.contents
  alarmUnreadable(file, bad.length, log)
  const holdIds = new Set([...rows, ...read.tail].map(({ id }) => id))
  try {
    if (![...holdIds].some((id) => stale.has(id))) {
      await setAside(disk, dirname(file.path), file.name, read.bytes, bad)
      return await keepRows(disk, file, newestRows(rows, file, waiting))
    }
  } catch (error) {
    log.error('spool_tidy_failed', { file: file.name, error })
  }
  for (const id of holdIds) stale.add(id)
  return false
}

async function keepRows(
  disk: Disk,
  file: SpoolFile,
  rows: ReadonlyMap<string, ResolutionRow>,
): Promise<boolean> {
  if (rows.size === 0) {
    // Remains only if the rename failed.
    await deleteFile(disk, newPath(file))
    await deleteFile(disk, file.path)
  } else {
    const end = await replaceFile(disk, file, [...rows.values()])
    Object.assign(file, { end, hasTail: false, hasBad: false, holdsInFile: rows.size })
  }
  await syncFolder(disk, dirname(file.path))
  return rows.size === 0
}

/** Logs unreadable records once for each file, without its content. */
export function alarmUnreadable(file: SpoolFile, count: number, log: Log): void {
  file.hasBad = count > 0
  if (count === 0 || file.isAlarmed) return
  file.isAlarmed = true
  log.error('spool_record_unreadable', { file: file.name, count })
}

/** Returns the newest row of each hold, if it is in this file. */
export function newestRows(
  rows: readonly ResolutionRow[],
  file: SpoolFile,
  waiting: WaitingHolds,
): Map<string, ResolutionRow> {
  const newest = new Map<string, ResolutionRow>()
  for (const row of rows) if (waiting.isNewestIn(row.id, file)) newest.set(row.id, row)
  return newest
}

async function replaceFile(
  disk: Disk,
  file: SpoolFile,
  rows: readonly ResolutionRow[],
): Promise<number> {
  const bytes = Buffer.from(rows.map(frameRow).join(''))
  const path = newPath(file)
  const handle = await disk.open(path, 'w', 0o600)
  try {
    await handle.writeFile(bytes)
    await handle.datasync()
  } finally {
    await handle.close()
  }
  await disk.rename(path, file.path)
  return bytes.length
}

function newPath(file: SpoolFile): string {
  return `${file.path}.new`
}
