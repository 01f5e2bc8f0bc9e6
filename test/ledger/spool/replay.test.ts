// deep: starts processes
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { openSpool } from '../../../src/money/ledger/spool/spool.ts'
import { frameRow } from '../../../src/money/ledger/spool/record-frames.ts'
import { createId } from '../../../src/platform/lib/ids.ts'
import { recordEvents, spoolFolder, testRow, versionOf } from './spool-rows.ts'

test('a refused row delays no other, is retried after growing pauses, and a later row of its hold is replayed at once', async () => {
  const dir = await spoolFolder()
  const asked: string[] = []
  const refused = testRow()
  let clock = 0
  const spool = await openSpool({
    dir,
    nodeId: createId(),
    log: recordEvents().log,
    now: () => clock,
    async replay(row) {
      asked.push(`${row.id} ${versionOf(row)}`)
      return row.id === refused.id && versionOf(row) === 0 ? 'refused' : 'taken'
    },
  })
  const others = [testRow(), testRow()]
  await spool.append(refused)
  for (const row of others) await spool.append(row)
  await spool.replayAll()
  assert.deepEqual(asked.toSorted(), [refused, ...others].map(({ id }) => `${id} 0`).toSorted())
  assert.equal(spool.length, 1)

  asked.length = 0
  const times: number[] = []
  for (; clock < 3_600_000; clock += 1_000) {
    await spool.replayAll()
    if (asked.length > 0) times.push(clock)
    asked.length = 0
  }
  const pauses = times.slice(1).map((time, at) => time - (times[at] as number))
  assert.deepEqual(
    pauses,
    pauses.toSorted((a, b) => a - b),
  )
  assert.ok((pauses[0] as number) >= 5_000 && pauses.at(-1) === 600_000)

  await spool.append(testRow(refused.id, 1))
  await spool.replayAll()
  assert.deepEqual(asked, [`${refused.id} 1`])
  await spool.close()
  assert.deepEqual(await readdir(dir), [])
})

test('processes that start at once on the files of dead ones replay each row once', async () => {
  const dir = await spoolFolder()
  const rows = Array.from({ length: 60 }, () => testRow())
  for (const [number, row] of rows.entries()) {
    await writeFile(join(dir, `999999999.1-${createId()}.${number}.spool`), frameRow(row))
  }
  const script = `
    import { openSpool } from ${JSON.stringify(import.meta.resolve('../../../src/money/ledger/spool/spool.ts'))}
    const log = { debug() {}, info() {}, warn() {}, error: (event) => console.log(event) }
    const replay = async ({ id }) => (console.log(id), 'taken')
    const spool = await openSpool({ dir: process.argv[1], nodeId: crypto.randomUUID(), log, replay })
    await spool.replayAll()`
  const children = Array.from({ length: 4 }, () => {
    const args = ['--input-type=module', '--eval', script, dir]
    return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  })
  const outputs = await Promise.all(children.map(({ stdout }) => text(stdout)))
  const lines = outputs.join('').split('\n').filter(Boolean)
  assert.deepEqual(lines.toSorted(), rows.map(({ id }) => id).toSorted())
  assert.deepEqual(await readdir(dir), [])
})
