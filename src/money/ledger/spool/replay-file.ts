import type { Log } from '../../../platform/lib/log.ts'
import type { ResolutionRow } from '../resolution.ts'
import type { Disk } from './disk.ts'
import { readSpoolFile, type SpoolFile } from './spool-file.ts'
import { alarmUnreadable, newestRows } from './tidy-file.ts'
import type { WaitingHolds } from './waiting-holds.ts'

/** `unreachable`: the database did not answer. `refused`: it refused the row, which is retried after a pause. */
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
export async function replayFile(
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
