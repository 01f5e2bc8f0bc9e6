// deep: starts processes
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { EmbeddedFailed, startEmbedded } from '../../src/platform/db/embedded.ts'
import { createReadiness } from '../../src/platform/health/readiness.ts'
import { mountDisk } from '../faults/fillable-disk.ts'
import { createTestDatabase } from '../harness/test-database.ts'

test('a full disk under the embedded database makes the server unready, and one beside a database elsewhere does not', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'catraca-full-'))
  const database = await createTestDatabase()
  const disk = mountDisk(folder)
  try {
    if (!disk) return t.skip('this account cannot mount a file system')
    disk.fill(0)
    const unready = (dataDir: string, databaseUrl: string | undefined) =>
      createReadiness(database.db, () => true, { databaseUrl, dataDir }).findUnready()
    assert.deepEqual(await unready(folder, undefined), ['disk'])
    assert.deepEqual(await unready(folder, database.databaseUrl), [])
    assert.deepEqual(await unready(tmpdir(), undefined), [])
  } finally {
    disk?.unmount()
    await database.drop()
    await rm(folder, { recursive: true, force: true })
  }
})

test('an embedded database that finds no room says why in one line', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'catraca-full-'))
  const disk = mountDisk(folder)
  try {
    if (!disk) return t.skip('this account cannot mount a file system')
    disk.fill(512 * 1024)
    await assert.rejects(startEmbedded({ dataDir: folder, log: () => {} }), (error) => {
      assert.ok(error instanceof EmbeddedFailed, String(error))
      assert.match(error.message, /No space left on device/)
      assert.doesNotMatch(error.message, /\n|creating/)
      return true
    })
  } finally {
    disk?.unmount()
    await rm(folder, { recursive: true, force: true })
  }
})
