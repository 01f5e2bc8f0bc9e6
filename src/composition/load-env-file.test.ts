import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ConfigError } from './config.ts'
import { loadEnvFile } from './load-env-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'catraca-env-'))
after(() => rmSync(folder, { recursive: true, force: true }))

test('a variable of the process wins over .env, and a quoted $ stays as it is', () => {
  process.env.CATRACA_TEST_SET = 'of the process'
  writeFileSync(
    join(folder, '.env'),
    "CATRACA_TEST_SET=of the file\nCATRACA_TEST_KEY='$aact_prod_1'\n",
  )
  assert.equal(loadEnvFile(folder), join(folder, '.env'))
  assert.equal(process.env.CATRACA_TEST_SET, 'of the process')
  assert.equal(process.env.CATRACA_TEST_KEY, '$aact_prod_1')
})

test('a folder without .env is no fault, and one that cannot be read is', () => {
  assert.equal(loadEnvFile(join(folder, 'nowhere')), undefined)
  mkdirSync(join(folder, 'odd/.env'), { recursive: true })
  assert.throws(() => loadEnvFile(join(folder, 'odd')), ConfigError)
})
