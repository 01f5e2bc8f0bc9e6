/** The spool with fault 7: it appends lines of JSON and ignores the torn line of a failed write. */
import { mkdir, open, readdir, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Replay, Spool } from '../../../src/money/ledger/spool/spool.ts'
import type { ResolutionRow } from '../../../src/money/ledger/resolution.ts'
import type { Log } from '../../../src/platform/lib/log.ts'
import { createNaturalBatcher } from '../../../src/platform/lib/natural-batcher.ts'

export async function openSpool(options: {
  dir: string
  nodeId: string
  log: Log
  replay: Replay
}): Promise<Spool> {
  const { dir, log, replay } = options
  await mkdir(dir, { recursive: true })
  let fileNumber = 0
  const waiting = new Set<string>()
  for (const { id } of await readAll()) waiting.add(id)
  let replaying: Promise<void> | undefined

  const own = (): string => `${options.nodeId}.${fileNumber}.jsonl`
  const writer = createNaturalBatcher<ResolutionRow, void>(10_000, async (rows) => {
    const file = await open(join(dir, own()), 'a', 0o600)
    try {
      await file.appendFile(rows.map((row) => JSON.stringify(row) + '\n').join(''))
      await file.datasync()
    } finally {
      await file.close()
    }
    for (const { id } of rows) waiting.add(id)
    return rows.map(() => undefined)
  })

  async function readAll(): Promise<ResolutionRow[]> {
    const names = (await readdir(dir)).filter((name) => name.endsWith('.jsonl'))
    const texts = await Promise.all(names.map((name) => readFile(join(dir, name), 'utf8')))
    const lines = texts.flatMap((text) => text.split('\n').slice(0, -1))
    return lines.map((line) => JSON.parse(line) as ResolutionRow)
  }

  async function replayNow(): Promise<void> {
    fileNumber += 1
    await writer.whenIdle()
    const names = (await readdir(dir)).filter((name) => name.endsWith('.jsonl') && name !== own())
    for (const name of names) {
      const lines = (await readFile(join(dir, name), 'utf8')).split('\n').slice(0, -1)
      const rows = lines.map((line) => JSON.parse(line) as ResolutionRow)
      if ((await Promise.all(rows.map(replay))).includes('unreachable')) return
      await unlink(join(dir, name))
      for (const { id } of rows) waiting.delete(id)
    }
  }

  return {
    append: (row) => writer.submit(row),
    has: (holdId) => waiting.has(holdId),
    get length() {
      return waiting.size
    },
    setAsideCount: 0,
    replayAll() {
      if (waiting.size === 0) return replaying ?? Promise.resolve()
      replaying ??= replayNow()
        .catch((error: unknown) => log.error('spool_replay_failed', { error }))
        .finally(() => (replaying = undefined))
      return replaying
    },
    async close() {
      await replaying
      await writer.whenIdle()
    },
  }
}
