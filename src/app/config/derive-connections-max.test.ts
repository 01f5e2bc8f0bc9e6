import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { deriveConnectionsMax, readDescriptorLimit } from './derive-connections-max.ts'

const LIVE = {
  mode: 'live',
  ledgerLanes: 2,
  connectionsMax: undefined,
  databaseReadUrl: undefined,
} as const

test('each client connection has a descriptor for its upstream, and the database and the files keep theirs', () => {
  for (const descriptors of [256, 1_024, 524_288]) {
    const max = deriveConnectionsMax(LIVE, descriptors) ?? 0
    assert.ok(2 * max <= descriptors - 100, `${max} of ${descriptors}`)
    assert.ok(2 * max >= descriptors - 130, `${max} of ${descriptors}`)
  }
})

test('the setting lowers the limit, and cannot raise it above what the descriptors allow', () => {
  assert.equal(deriveConnectionsMax({ ...LIVE, connectionsMax: 10 }, 1_024), 10)
  assert.equal(
    deriveConnectionsMax({ ...LIVE, connectionsMax: 100_000 }, 1_024),
    deriveConnectionsMax(LIVE, 1_024),
  )
})

test('a process with next to no descriptors serves one connection', () => {
  assert.equal(deriveConnectionsMax(LIVE, 20), 1)
})

test('where the system names no limit, the setting alone holds', () => {
  assert.equal(deriveConnectionsMax(LIVE, undefined), undefined)
  assert.equal(deriveConnectionsMax({ ...LIVE, connectionsMax: 7 }, undefined), 7)
})

test('the limit is read as Linux writes it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'catraca-limits-'))
  const file = join(folder, 'limits')
  const line = (soft: string) =>
    `Limit                     Soft Limit           Hard Limit           Units\nMax open files            ${soft.padEnd(20)} 1048576              files\n`
  writeFileSync(file, line('4096'))
  assert.equal(readDescriptorLimit(file), 4_096)
  writeFileSync(file, line('unlimited'))
  assert.equal(readDescriptorLimit(file), undefined)
  assert.equal(readDescriptorLimit(join(folder, 'none')), undefined)
  rmSync(folder, { recursive: true })
})
