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
import { appendRows } from './append-rows.ts'
import { DISK, type Disk } from './disk.ts'
import { openOwnFiles } from './own-files.ts'
import { replayFile, type Replay } from './replay-file.ts'
import { countSetAside } from './set-aside.ts'
import { isUntidy, tidyFile } from './tidy-file.ts'
import { createWriteOrder } from './write-order.ts'
import { createWaitingHolds } from './waiting-holds.ts'

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
