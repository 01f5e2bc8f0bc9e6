import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../test/harness/fast-check.ts'
import { BlockJoiner } from './block-joiner.ts'

const BLOCK_BYTES = 16 * 1024

function join(sizes: readonly number[]): { whole: Buffer; blocks: Buffer[] } {
  const joiner = new BlockJoiner()
  const parts = sizes.map((size, index) => Buffer.alloc(size, `${index}`))
  const blocks: Buffer[] = []
  const pass = (block: Buffer): void => void blocks.push(block)
  for (const part of parts) joiner.add(part, pass)
  joiner.flush(pass)
  joiner.flush(pass)
  return { whole: Buffer.concat(parts), blocks }
}

test('the blocks have the bytes of the parts, and what is kept does not depend on how a body was cut', () => {
  const size = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 70_000 }))
  fc.assert(
    fc.property(fc.array(size, { maxLength: 200 }), (sizes) => {
      const { whole, blocks } = join(sizes)
      assert.ok(Buffer.concat(blocks).equals(whole))
      for (const block of blocks.slice(0, -1)) assert.ok(block.length >= BLOCK_BYTES)
      const kept = new Set(blocks.map(({ buffer }) => buffer))
      const keptBytes = [...kept].reduce((sum, { byteLength }) => sum + byteLength, 0)
      assert.ok(keptBytes <= 2 * whole.length + 2 * BLOCK_BYTES, `${keptBytes} for ${whole.length}`)
    }),
  )
})

test('a part alone is passed on as it is', () => {
  const part = Buffer.from('{"model":"m"}')
  const joiner = new BlockJoiner()
  const blocks: Buffer[] = []
  joiner.add(part, (block) => blocks.push(block))
  joiner.flush((block) => blocks.push(block))
  assert.equal(blocks.length, 1)
  assert.equal(blocks[0]?.buffer, part.buffer)
})
