import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { createTierReader } from './tiers.ts'

test('a helper has the lowest tier that its imports allow', () => {
  const read = createTierReader(join(import.meta.dirname, '../..'))
  const tierOf = (name: string): string => read(`test/harness/${name}.ts`).tier
  // One import of `node:child_process` here would move all files with a database into the tier of processes.
  assert.equal(tierOf('test-database'), 'database')
  // And these, all files that call a server.
  assert.equal(tierOf('gateway'), 'database')
  assert.equal(tierOf('gateway-process'), 'processes')
  assert.equal(tierOf('scripted-upstream'), 'sockets')
  assert.equal(tierOf('tiers'), 'unit')
})

test('a file is deep by its first line', () => {
  const read = createTierReader(join(import.meta.dirname, '../..'))
  assert.equal(read('test/faults/faults.test.ts').isDeep, true)
  assert.equal(read('test/harness/tiers.test.ts').isDeep, false)
})
