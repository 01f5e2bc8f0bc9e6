import { dirname } from 'node:path'
import type { Log } from '../../lib/log.ts'
import type { ResolutionRow } from '../resolution.ts'
import { cutTailAgain } from './append-durably.ts'
import { deleteFile, syncFolder, type Disk } from './disk.ts'
import { frameRow } from './record-frames.ts'
import { setAside } from './set-aside.ts'
import { readSpoolFile, type SpoolFile } from './spool-file.ts'
import type { WaitingHolds } from './waiting-holds.ts'

/** Whether the file holds more than the rows that wait in it. */
export function isUntidy(file: SpoolFile): boolean {
  return file.waiting < file.holdsInFile || file.waiting === 0 || file.hasBad || file.hasTail
}

/**
 * Leaves in the file the rows that still wait there, and deletes it where none does. Bytes that are no
 * record are copied aside before. The rows change place by a rename: at each moment either all or only
 * those that wait are on the disk. True where the file is gone.
 *
 * Files are tidied in their order. `stale`: holds of which a file before this one keeps rows that do not
 * count any more, for the disk failed. Their later rows stay too, or a process that starts after a crash
 * would take the earlier ones for the newest. The holds of a file that stays as it is are added to it.
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
    // Left there where it could not take the file's place.
    await deleteFile(disk, newPath(file))
    await deleteFile(disk, file.path)
  } else {
    const end = await replaceFile(disk, file, [...rows.values()])
    Object.assign(file, { end, hasTail: false, hasBad: false, holdsInFile: rows.size })
  }
  await syncFolder(disk, dirname(file.path))
  return rows.size === 0
}

/** Once for a file, and without what it holds. */
export function alarmUnreadable(file: SpoolFile, count: number, log: Log): void {
  file.hasBad = count > 0
  if (count === 0 || file.isAlarmed) return
  file.isAlarmed = true
  log.error('spool_record_unreadable', { file: file.name, count })
}

/** The newest row of each hold, where it is in this file. */
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
  const toText = file.name.endsWith('.jsonl')
    ? (row: ResolutionRow) => `${JSON.stringify(row)}\n`
    : frameRow
  const bytes = Buffer.from(rows.map(toText).join(''))
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
