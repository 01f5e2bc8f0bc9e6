import assert from 'node:assert/strict'
import { mkdtempSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeFolder } from './make-folder.ts'

test('a folder is made with those above it, and again without a change', () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'make-folder-')), 'a', 'b', 'c')
  makeFolder(folder)
  makeFolder(folder)
  assert.ok(statSync(folder).isDirectory())
})

test('a folder that cannot be made is an error, and not an endless loop', (t) => {
  if (process.platform !== 'linux') return t.skip('there is no /proc')
  for (const path of ['/proc/catraca', '/proc/catraca/data'])
    assert.throws(() => makeFolder(path), /ENOENT|EACCES|EPERM|EROFS/)
})
