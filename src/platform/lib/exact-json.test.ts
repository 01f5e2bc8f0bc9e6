import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../test/harness/fast-check.ts'
import { jsonCents, parseExactJson, readCents } from './exact-json.ts'

test('every amount survives the round trip to the centavo', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 15n), (cents) => {
      const text = JSON.stringify({ value: jsonCents(cents), other: 1.5 })
      const read = parseExactJson(text) as { value: unknown; other: unknown }
      assert.equal(readCents(read.value), cents)
      assert.equal(read.other, 1.5)
    }),
  )
})

test('amounts are read exactly, in every notation', () => {
  for (const [text, cents] of [
    ['100', 10_000n],
    ['100.0', 10_000n],
    ['100.10', 10_010n],
    ['98.01', 9_801n],
    ['0.29', 29n],
    ['9007199254740993.01', undefined],
    ['999999999999999.99', 99_999_999_999_999_999n],
    ['0.001', undefined],
    ['-1', undefined],
    ['1e2', undefined],
    ['"12.34"', 1_234n],
    ['null', undefined],
    ['{}', undefined],
  ] as const) {
    const read = parseExactJson(`{"value":${text}}`) as { value: unknown }
    assert.equal(readCents(read.value), cents, text)
  }
})
