import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BANDS } from './aac-bands.ts'
import { SCALE_FACTORS, SHORT_BITS, SPECTRUM, type Codebook } from './aac-codebooks.ts'

/** The entries of a codebook by as many bits as its longest code word has. */
function entriesOf({ short, long, longBits, longFrom }: Codebook): readonly number[] {
  const step = 1 << (longBits - SHORT_BITS)
  return Array.from({ length: longFrom + long.length }, (_, at) =>
    at < longFrom ? (short[Math.floor(at / step)] as number) : (long[at - longFrom] as number),
  )
}

test('the code words of each codebook are all that there can be', () => {
  for (const book of [SCALE_FACTORS, ...SPECTRUM]) {
    const entries = entriesOf(book)
    assert.equal(entries.length, 1 << book.longBits)
    assert.ok(entries.every((entry) => entry > 0))
  }
})

test('the bands of each rate are as wide as its windows', () => {
  const sum = (widths: Uint8Array): number => widths.reduce((total, width) => total + width * 4, 0)
  assert.equal(BANDS.length, 13)
  for (const { long, short } of BANDS) assert.deepEqual([sum(long), sum(short)], [1_024, 128])
})
