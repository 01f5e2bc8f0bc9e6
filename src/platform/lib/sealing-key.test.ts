import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ensureSealingKey, parseSealingKey } from './sealing-key.ts'

test('a key is 32 bytes in base64, and any other text is refused', () => {
  const key = randomBytes(32)
  for (const text of [
    key.toString('base64'),
    key.toString('base64url'),
    ` ${key.toString('base64')}\n`,
  ])
    assert.deepEqual(parseSealingKey(text), key)
  for (const text of ['', 'secret', key.toString('hex'), randomBytes(31).toString('base64')])
    assert.equal(parseSealingKey(text), undefined, text)
  const inner = key.toString('base64')
  assert.equal(parseSealingKey(`${inner.slice(0, 9)}!${inner.slice(9)}`), undefined)
})

test('a folder gets one key under concurrent first calls, readable by its owner only', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'catraca-key-'))
  try {
    const dataDir = join(folder, 'data')
    const key = await ensureSealingKey(dataDir)
    assert.equal(key.length, 32)
    assert.deepEqual(await ensureSealingKey(dataDir), key)
    const file = join(dataDir, 'secrets.key')
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    await writeFile(file, 'spoilt')
    await assert.rejects(ensureSealingKey(dataDir), /secrets\.key/)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
