/**
 * Keeps, on the local disk, resolutions that the database could not take, until it takes them.
 * A hold stays open as long as its resolution waits here. Lines are on the disk (fdatasync) before
 * `append` resolves. Only one process writes a file; the files of processes that died are replayed by
 * the next one that starts on the same folder, which must be a folder of this machine alone.
 */
import { mkdir, open, readdir, readFile, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createNaturalBatcher } from '../lib/natural-batcher.ts'
import type { Log } from '../lib/log.ts'
import type { ResolutionRow } from './resolution.ts'

export interface Spool {
  append(row: ResolutionRow): Promise<void>
  /** Lines that wait, as far as this process knows. */
  readonly length: number
  /** Hands every line that waits to `replay`; keeps those it could not take. */
  replayAll(): Promise<void>
  close(): Promise<void>
}

export type Replay = (row: ResolutionRow) => Promise<'taken' | 'away' | 'refused'>

const FILE_NAME = /^(\d+)-[0-9a-f-]{36}\.jsonl(\.\d+\.replay)?$/

export async function openSpool(options: {
  dir: string
  nodeId: string
  log: Log
  replay: Replay
}): Promise<Spool> {
  const { dir, log, replay } = options
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const own = join(dir, `${process.pid}-${options.nodeId}.jsonl`)
  let length = (await readWaiting(dir, () => true)).reduce((sum, file) => sum + file.lines, 0)
  let replays = 0
  let replaying: Promise<void> | undefined
  let isClosed = false

  const writer = createNaturalBatcher<ResolutionRow, void>(10_000, async (rows) => {
    const isNew = length === 0
    const file = await open(own, 'a', 0o600)
    try {
      await file.appendFile(rows.map((row) => JSON.stringify(row) + '\n').join(''))
      await file.datasync()
    } finally {
      await file.close()
    }
    if (isNew) await syncFolder(dir)
    length += rows.length
    return rows.map(() => undefined)
  })

  /** Lines that cannot be taken now go back to our own file before theirs is removed. */
  async function replayFile(path: string): Promise<boolean> {
    const rows = await readRows(path, log)
    const kept: ResolutionRow[] = []
    let isAway = false
    for (const row of rows) {
      const outcome = isAway ? 'away' : await replay(row)
      if (outcome === 'taken') continue
      if (outcome === 'away') isAway = true
      else log.error('spooled_resolution_refused', { id: row.id })
      kept.push(row)
    }
    await Promise.all(kept.map((row) => writer.submit(row)))
    await unlink(path)
    length = Math.max(0, length - rows.length)
    return !isAway
  }

  async function replayNow(): Promise<void> {
    await writer.whenIdle()
    for (const file of await readWaiting(dir, (pid) => pid === process.pid || !isAlive(pid))) {
      let path = join(dir, file.name)
      if (path === own) {
        // What is appended from here on goes to a new file.
        path = `${own}.${++replays}.replay`
        await rename(own, path)
      }
      if (!(await replayFile(path))) return
    }
  }

  return {
    append: (row) => writer.submit(row),
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
  wants: (pid: number) => boolean,
): Promise<{ name: string; lines: number }[]> {
  const found: { name: string; lines: number }[] = []
  for (const name of (await readdir(dir)).sort()) {
    const match = FILE_NAME.exec(name)
    if (!match || !wants(Number(match[1]))) continue
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

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

async function syncFolder(dir: string): Promise<void> {
  const folder = await open(dir, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
