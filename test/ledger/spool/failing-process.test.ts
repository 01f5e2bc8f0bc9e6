// deep: starts processes
/** Real processes on a real file system: killed at any moment, and with a full disk. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSpool } from '../../../src/money/ledger/spool/spool.ts'
import { createId } from '../../../src/platform/lib/ids.ts'
import { effort, isFullEffort } from '../../harness/effort.ts'
import { recordEvents, spoolFolder } from './spool-rows.ts'

const CHILD = join(import.meta.dirname, './append-in-child.ts')

test('every row that a process acknowledged before it was killed is replayed by the next one', async () => {
  const dir = await spoolFolder()
  const kept = new Set<string>()
  const replayed = new Set<string>()
  for (let kill = 0; kill < effort({ ordinary: 6, full: 100 }); kill++) {
    const child = startChild(dir, { attempts: 1_000_000, atOnce: 1 + (kill % 7) })
    await child.hasReported()
    await sleep(Math.random() * 60)
    const report = await child.kill()
    for (const id of report.kept) kept.add(id)
    assert.deepEqual(report.failed, [])
    if (kill % 2 === 1) for (const id of await replay(dir)) replayed.add(id)
  }
  for (const id of await replay(dir)) replayed.add(id)
  assert.ok(kept.size > 0)
  assert.deepEqual(
    [...kept].filter((id) => !replayed.has(id)),
    [],
  )
})

test('with a full disk nothing is acknowledged, and exactly the earlier rows are replayed', async () => {
  for (const blocks of isFullEffort ? [1, 2, 3, 5, 7, 11, 17, 40, 64, 100] : [1, 7, 64]) {
    const dir = await spoolFolder()
    const child = startChild(dir, { attempts: blocks * 2 + 20, atOnce: 1 + (blocks % 5), blocks })
    const { kept, failed } = await child.whenDone()
    assert.equal(kept.length + failed.length >= blocks * 2 + 20, true)
    assert.ok(failed.length > 0, 'the disk was full')
    for (const line of failed) assert.ok(line.endsWith(' false'), 'none of these may remain')
    const [name] = await readdir(dir)
    const written = name === undefined ? 0 : (await stat(join(dir, name))).size
    assert.ok(written <= blocks * 512)
    assert.deepEqual((await replay(dir)).toSorted(), kept.toSorted())
  }
})

/** The rows that a new process on the folder replays; afterwards the folder is empty. */
async function replay(dir: string): Promise<string[]> {
  const ids: string[] = []
  const { log, events } = recordEvents()
  const spool = await openSpool({
    dir,
    nodeId: createId(),
    log,
    async replay(row) {
      ids.push(row.id)
      return 'taken'
    },
  })
  await spool.replayAll()
  await spool.close()
  assert.ok(!events.includes('spool_record_unreadable'))
  assert.deepEqual(await readdir(dir), [])
  return ids
}

interface Report {
  kept: string[]
  failed: string[]
}

/**
 * `blocks`: the maximum size of a file, in units of 512 bytes; a write beyond it ends short, and the next one
 * fails.
 */
function startChild(
  dir: string,
  { attempts, atOnce, blocks }: { attempts: number; atOnce: number; blocks?: number },
) {
  const limit = blocks === undefined ? '' : `ulimit -S -f ${blocks};`
  const script = `${limit} exec "$0" "$@"`
  const args = [process.execPath, CHILD, dir, String(attempts), String(atOnce)]
  // The compile cache consists of files too.
  const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' }
  const child = spawn('/bin/sh', ['-c', script, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
  })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (more: string) => (text += more))
  const ended = once(child, 'close')
  async function whenDone(): Promise<Report> {
    await ended
    const lines = text.split('\n').filter((line) => line !== '')
    const of = (word: string): string[] =>
      lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1))
    return { kept: of('kept'), failed: of('failed') }
  }
  return {
    whenDone,
    async hasReported() {
      while (!text.includes('\n')) await sleep(5)
    },
    kill() {
      child.kill('SIGKILL')
      return whenDone()
    },
  }
}
