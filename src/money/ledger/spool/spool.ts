/**
 * Keeps resolutions on the local disk while the database is unavailable. A hold stays open as long as its resolution
 * waits here. The last appended row of a hold counts. Each file has one owning process; the next process on the folder
 * takes over the files of dead ones. The folder must belong to this machine alone.
 *
 * Guarantees:
 * - `append` resolved: the row is on the disk, and is replayed until the database takes it or a later row of its hold is
 *   appended, whatever else is in the files.
 * - `append` rejected (`SpoolAppendFailed`): this process never replays the row. No other process does either, except
 *   in the case of `mayRemain`.
 * - A process that dies inside `append` may leave the row or not.
 */
import { createNaturalBatcher } from '../../../platform/lib/natural-batcher.ts'
import type { Log } from '../../../platform/lib/log.ts'
import type { ResolutionRow } from '../resolution.ts'
import { DISK, type Disk, readSpoolFile, type SpoolFile } from './spool-file.ts'
import { openOwnFiles, type OwnFiles } from './own-files.ts'
import { countSetAside, isUntidy, tidyFile, alarmUnreadable, newestRows } from './tidy-file.ts'
import {
  createWriteOrder,
  type WriteOrder,
  appendDurably,
  cutTailAgain,
  SpoolAppendFailed,
} from './append-durably.ts'
import { createWaitingHolds, type WaitingHolds } from './waiting-holds.ts'
import { frameRow } from './record-frames.ts'

/**
 * Writes a row of the spool to the database. `unreachable` means that the database did not answer, `refused` that it
 * refused the row, which is retried after a pause.
 */
export type Replay = (row: ResolutionRow) => Promise<'taken' | 'unreachable' | 'refused'>

const REPLAY_AT_ONCE = 500
/** The most hold ids in one log line. */
const IDS_LOGGED_MAX = 20

interface ReplayDeps {
  readonly disk: Disk
  readonly waiting: WaitingHolds
  readonly log: Log
  readonly replay: Replay
  readonly now: () => number
}

/**
 * Replays the rows of a file that wait and are due. `unreachable`: the database took none of the last rows. `gone`:
 * there is no such file.
 */
async function replayFile(
  file: SpoolFile,
  deps: ReplayDeps,
): Promise<'done' | 'unreachable' | 'gone'> {
  const { waiting, log, now } = deps
  if (file.waiting === 0 || file.retryAt > now()) return 'done'
  const read = await readSpoolFile(deps.disk, file)
  if (!read) return 'gone'
  alarmUnreadable(file, read.contents.bad.length, log)
  const newest = newestRows(read.contents.rows, file, waiting)
  // Records that became unreadable no longer wait.
  if (newest.size < file.waiting) waiting.forgetOthers(file, new Set(newest.keys()))
  const due = [...newest.values()].filter(({ id }) => waiting.dueAt(id) <= now())
  const refused: string[] = []
  let isUnreachable = false
  for (let start = 0; start < due.length && !isUnreachable; start += REPLAY_AT_ONCE) {
    const some = due.slice(start, start + REPLAY_AT_ONCE)
    const outcomes = await Promise.all(some.map((row) => handOver(row, file, deps)))
    refused.push(...some.filter((_, at) => outcomes[at] === 'refused').map(({ id }) => id))
    // A locked account does not hold up the rows behind it.
    isUnreachable = outcomes.every((outcome) => outcome === 'unreachable')
  }
  if (refused.length > 0) {
    const ids = refused.slice(0, IDS_LOGGED_MAX)
    log.error('spooled_resolution_refused', { count: refused.length, ids })
  }
  const left = [...newest.keys()].filter((id) => waiting.isNewestIn(id, file))
  file.retryAt = left.reduce((first, id) => Math.min(first, waiting.dueAt(id)), Infinity)
  return isUnreachable ? 'unreachable' : 'done'
}

async function handOver(
  row: ResolutionRow,
  file: SpoolFile,
  { waiting, log, replay, now }: ReplayDeps,
): Promise<'taken' | 'unreachable' | 'refused' | 'superseded'> {
  // A later row of the hold may have been appended meanwhile.
  if (!waiting.isNewestIn(row.id, file)) return 'superseded'
  const outcome = await replay(row).catch((error: unknown) => {
    log.error('spool_replay_failed', { id: row.id, error })
    return 'refused' as const
  })
  if (outcome === 'taken') waiting.forget(row.id, file)
  if (outcome === 'refused' && waiting.isNewestIn(row.id, file)) waiting.refuse(row.id, now())
  return outcome
}

export interface Spool {
  /** Rejects with `SpoolAppendFailed`. */
  append(row: ResolutionRow): Promise<void>
  /** True while a row of this hold waits in a file of this process, or is being appended to one. */
  has(holdId: string): boolean
  /** Holds whose resolution waits in a file of this process. */
  readonly length: number
  /** The number of unreadable pieces in the folder `set-aside`. */
  readonly setAsideCount: number
  /** Passes the newest waiting row of each hold to `replay`, and keeps the rows that were not taken. */
  replayAll(): Promise<void>
  close(): Promise<void>
}

const APPEND_AT_ONCE = 10_000

export async function openSpool(options: {
  dir: string
  nodeId: string
  log: Log
  replay: Replay
  disk?: Disk
  /** False: the files of dead processes are left to another process, the parent of this one. */
  takesOver?: boolean
  /** A monotonic clock, in milliseconds. */
  now?: () => number
}): Promise<Spool> {
  const { dir, log, replay, disk = DISK, now = () => performance.now() } = options
  await disk.mkdir(dir, { recursive: true, mode: 0o700 })
  const waiting = createWaitingHolds()
  const files = await openOwnFiles({ ...options, disk, waiting })
  const order = createWriteOrder()
  /** The number of rows of a hold that are being appended. */
  const appending = new Map<string, number>()
  let batch: Promise<unknown> = Promise.resolve()
  let replaying: Promise<void> | undefined
  let isClosed = false
  let setAsideCount = await countSetAside(disk, dir)

  const writer = createNaturalBatcher<ResolutionRow, void>(APPEND_AT_ONCE, async (rows) => {
    const run = appendRows(rows, { disk, files, waiting, order })
    batch = run.catch(() => undefined)
    await run
    return rows.map(() => undefined)
  })

  async function append(row: ResolutionRow): Promise<void> {
    appending.set(row.id, (appending.get(row.id) ?? 0) + 1)
    try {
      await writer.submit(row)
    } finally {
      const left = (appending.get(row.id) ?? 1) - 1
      if (left > 0) appending.set(row.id, left)
      else appending.delete(row.id)
    }
  }

  async function replayFiles(): Promise<void> {
    for (const file of files.list.slice()) {
      if (file === files.current) {
        // Later rows go to another file, so this one is complete once the running write ends.
        files.endCurrent()
        await batch
      }
      const outcome = await replayFile(file, { disk, waiting, log, replay, now })
      if (outcome === 'gone') files.drop(file)
      if (outcome === 'unreachable') return
    }
  }

  async function tidyFiles(): Promise<void> {
    let hasBad = setAsideCount > 0
    const stale = new Set<string>()
    for (const file of files.list) {
      if (file === files.current || !isUntidy(file)) continue
      const isGone = await order.add(() => tidyFile(disk, file, stale, { waiting, log }))
      if (isGone) files.drop(file)
      hasBad ||= file.isAlarmed
    }
    if (hasBad) setAsideCount = await countSetAside(disk, dir)
  }

  async function replayNow(): Promise<void> {
    await files.takeOver()
    // A file that was closed because a later one was taken over may still be written to.
    await batch
    try {
      await replayFiles()
    } finally {
      await tidyFiles()
    }
  }

  return {
    append,
    has: (holdId) => appending.has(holdId) || waiting.has(holdId),
    get length() {
      return waiting.size
    },
    get setAsideCount() {
      return setAsideCount
    },
    replayAll() {
      if (isClosed) return replaying ?? Promise.resolve()
      replaying ??= replayNow()
        .catch((error: unknown) => log.error('spool_replay_failed', { error }))
        .finally(() => (replaying = undefined))
      return replaying
    },
    async close() {
      isClosed = true
      await replaying
      await writer.whenIdle()
    },
  }
}

/** All rows are on the disk when this resolves; none is replayed when it rejects. */
async function appendRows(
  rows: readonly ResolutionRow[],
  deps: { disk: Disk; files: OwnFiles; waiting: WaitingHolds; order: WriteOrder },
): Promise<void> {
  const { disk, files, waiting, order } = deps
  if (files.list.some(({ hasTail }) => hasTail)) {
    await order.add(async () => {
      for (const file of files.list) await cutTailAgain(disk, file)
    })
  }
  const bytes = Buffer.from(rows.map(frameRow).join(''))
  for (let isInDoubt = false; ; isInDoubt = true) {
    const file = files.takeForAppend()
    try {
      if ((await appendDurably(disk, file, bytes)) === 'gone') {
        files.drop(file)
        continue
      }
    } catch (error) {
      if (!file.isOnDisk) files.drop(file)
      // The process that took the file before may have read the rows.
      throw isInDoubt ? new SpoolAppendFailed(error, true) : error
    }
    for (const { id } of rows) {
      if (!waiting.isNewestIn(id, file)) file.holdsInFile += 1
      waiting.note(id, file)
    }
    return
  }
}
