import assert from 'node:assert/strict'
import { mkdtemp, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { findWaitingSpoolFiles } from './audit-spool.ts'

test('charges that wait in the spool for more than ten minutes are found, and no others', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'catraca-audit-spool-'))
  const nowMs = Date.now()
  const write = async (name: string, text: string, minutes: number): Promise<void> => {
    await writeFile(join(dir, name), text)
    await utimes(join(dir, name), nowMs / 1000, nowMs / 1000 - minutes * 60)
  }
  await write('1.2-a.0.spool', 'x', 11)
  await write('1.2-a.1.spool', 'x', 12)
  await write('1.2-a.2.spool', 'x', 9)
  await write('1.2-a.3.spool', '', 30)
  await write('note.txt', 'x', 30)
  assert.deepEqual(await findWaitingSpoolFiles(dir, nowMs), ['1.2-a.0.spool', '1.2-a.1.spool'])
  assert.deepEqual(await findWaitingSpoolFiles(join(dir, 'none'), nowMs), [])
})
