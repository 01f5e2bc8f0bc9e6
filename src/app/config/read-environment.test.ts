import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ConfigError } from './config.ts'
import { readEnvironment } from './read-settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'catraca-env-'))
after(() => rmSync(folder, { recursive: true, force: true }))

test('a variable of the process wins over .env, and a quoted $ stays as it is', () => {
  writeFileSync(join(folder, '.env'), "SET=of the file\nKEY='$aact_prod_1'\n")
  const read = readEnvironment(folder, { SET: 'of the process' })
  assert.deepEqual(read, { SET: 'of the process', KEY: '$aact_prod_1' })
})

test('a changed .env is read anew', () => {
  writeFileSync(join(folder, '.env'), 'KEY=first\n')
  assert.equal(readEnvironment(folder, {})['KEY'], 'first')
  writeFileSync(join(folder, '.env'), 'KEY=second\n')
  assert.equal(readEnvironment(folder, {})['KEY'], 'second')
})

test('a folder without .env is no fault, and one that cannot be read is', () => {
  assert.deepEqual(readEnvironment(join(folder, 'nowhere'), {}), {})
  mkdirSync(join(folder, 'odd/.env'), { recursive: true })
  assert.throws(() => readEnvironment(join(folder, 'odd'), {}), ConfigError)
})
