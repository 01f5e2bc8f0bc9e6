/**
 * Keeps, on the local disk, resolutions that the database could not take, until it takes them.
 * A hold stays open as long as its resolution waits here. Lines are on the disk (fdatasync) before
 * `append` resolves. Only one process writes a file; the files of processes that died are replayed by
 * the next one that starts on the same folder, which must be a folder of this machine alone.
 */
import { mkdir, open, readdir, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createNaturalBatcher } from '../lib/natural-batcher.ts'
import type { Log } from '../lib/log.ts'
import { isRunning, processIdentity } from '../lib/process-identity.ts'
import type { ResolutionRow } from './resolution.ts'

export interface Spool {
  append(row: ResolutionRow): Promise<void>
  has(holdId: string): boolean
  /** Lines that wait, as far as this process knows. */
  readonly length: number
  /** Hands every line that waits to `replay`; keeps those it could not take. */
  replayAll(): Promise<void>
  close(): Promise<void>
}

const REPLAY_AT_ONCE = 500

export type Replay = (row: ResolutionRow) => Promise<'taken' | 'away' | 'refused'>

/** The process that writes it, its node, and which of its files it is. */
const FILE_NAME = /^(\d+\.\d+)-[0-9a-f-]{36}\.\d+\.jsonl$/

export async function openSpool(options: {
  dir: string
  nodeId: string
  log: Log
  replay: Replay
}): Promise<Spool> {
  const { dir, log, replay } = options
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const self = processIdentity()
  /** What is appended from now on goes to this one; the ones before it are for the replay. */
  let fileNumber = 0
  let lastWritten: string | undefined
  const own = (): string => `${self}-${options.nodeId}.${fileNumber}.jsonl`
  let length = (await readWaiting(dir, () => true)).reduce((sum, file) => sum + file.lines, 0)
  let replaying: Promise<void> | undefined
  let isClosed = false
  const ids = new Set<string>()

  const writer = createNaturalBatcher<ResolutionRow, void>(10_000, async (rows) => {
    const name = own()
    const file = await open(join(dir, name), 'a', 0o600)
    try {
      await file.appendFile(rows.map((row) => JSON.stringify(row) + '\n').join(''))
      await file.datasync()
    } finally {
      await file.close()
    }
    if (name !== lastWritten) await syncFolder(dir)
    lastWritten = name
    length += rows.length
    return rows.map(() => undefined)
  })

  /**
   * False when the database is away: then the file stays as it is, since lines that were taken do
   * nothing the next time. Lines that the database refuses go back to our own file for the operator.
   */
  async function replayFile(path: string): Promise<boolean> {
    const rows = await readRows(path, log)
    const refused: ResolutionRow[] = []
    for (let start = 0; start < rows.length; start += REPLAY_AT_ONCE) {
      const some = rows.slice(start, start + REPLAY_AT_ONCE)
      const outcomes = await Promise.all(some.map(replay))
      if (outcomes.includes('away')) return false
      refused.push(...some.filter((_, index) => outcomes[index] === 'refused'))
    }
    for (const { id } of refused) log.error('spooled_resolution_refused', { id })
    await Promise.all(refused.map((row) => writer.submit(row)))
    await unlink(path)
    length = Math.max(0, length - rows.length)
    return true
  }

  async function replayNow(): Promise<void> {
    fileNumber += 1
    // Whatever was being written to the files before is in them now.
    await writer.whenIdle()
    const current = own()
    const isReadable = (name: string, writtenBy: string): boolean =>
      writtenBy === self ? name !== current : !isRunning(writtenBy)
    for (const file of await readWaiting(dir, isReadable)) {
      if (!(await replayFile(join(dir, file.name)))) return
    }
  }

  return {
    async append(row) {
      await writer.submit(row)
      ids.add(row.id)
    },
    has: (holdId) => length > 0 && ids.has(holdId),
    get length() {
      return length
    },
    replayAll() {
      if (length === 0 || isClosed) return replaying ?? Promise.resolve()
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

async function readWaiting(
  dir: string,
  wants: (name: string, writtenBy: string) => boolean,
): Promise<{ name: string; lines: number }[]> {
  const found: { name: string; lines: number }[] = []
  for (const name of (await readdir(dir)).sort()) {
    const match = FILE_NAME.exec(name)
    if (!match || !wants(name, match[1] as string)) continue
    const text = await readFile(join(dir, name), 'utf8')
    found.push({ name, lines: text.split('\n').length - 1 })
  }
  return found
}

/** A line without its end was never acknowledged: the process died while it wrote it. */
async function readRows(path: string, log: Log): Promise<ResolutionRow[]> {
  const lines = (await readFile(path, 'utf8')).split('\n')
  if (lines.pop() !== '') log.warn('spool_line_torn', { path })
  return lines.map((line) => JSON.parse(line) as ResolutionRow)
}

async function syncFolder(dir: string): Promise<void> {
  const folder = await open(dir, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
