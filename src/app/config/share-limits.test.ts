import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from './config.ts'
import { shareLimits } from './share-limits.ts'

const MIB = 1024 * 1024

test('the memory for bodies and the disk for files are shared, and one whole body or file always fits', () => {
  const config = loadConfig({}, '.')
  for (const workers of [1, 2, 3, 8, 64]) {
    const { bodiesBytesMax, uploadsBytesMax } = shareLimits(config, workers)
    assert.ok(bodiesBytesMax >= config.bodyBytesMax)
    assert.ok(uploadsBytesMax >= config.uploadBytesMax)
    if (workers <= 8) {
      assert.equal(bodiesBytesMax, Math.floor((256 * MIB) / workers))
      assert.ok(uploadsBytesMax * workers <= config.uploadsBytesMax)
    }
  }
})
