import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { processIdentity } from '../lib/process-identity.ts'
import { continueOrphans } from './orphans.ts'

test(
  'only a living worker of a dead parent is continued; files of dead ones go',
  { skip: process.platform !== 'linux' },
  () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'catraca-orphans-'))
    const self = processIdentity()
    const [pid = '', start = ''] = self.split('.')
    const dead = `${pid}.${Number(start) + 1}`
    const folder = join(dataDir, 'workers')
    mkdirSync(folder)
    const names = {
      orphan: `${self}-${dead}`,
      serving: `${self}-${self}`,
      gone: `${dead}-${dead}`,
      unknownStart: `${pid}.0-${dead}`,
    }
    for (const name of Object.values(names)) writeFileSync(join(folder, name), '')
    assert.deepEqual(continueOrphans(dataDir), [Number(pid)])
    const kept = [names.orphan, names.serving, names.unknownStart]
    assert.deepEqual(readdirSync(folder).toSorted(), kept.toSorted())
    assert.deepEqual(continueOrphans(join(dataDir, 'none')), [])
    rmSync(dataDir, { recursive: true })
  },
)
