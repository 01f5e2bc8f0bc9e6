import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../test/harness/fast-check.ts'
import { assertGrowsLinearly } from '../../../test/harness/grows-linearly.ts'
import {
  chargeFor,
  decimalBrl,
  decimalE4,
  decimalUsd,
  jsonBrl,
  parseBrl,
  parseE4,
  parseUsd,
} from './money.ts'

test('amounts are written exactly', () => {
  assert.equal(decimalBrl(1_234_500_000n), '1.2345')
  assert.equal(decimalBrl(50_000_000_000n), '50')
  assert.equal(decimalBrl(1n), '0.000000001')
  assert.equal(decimalBrl(-1_500_000_000n), '-1.5')
  assert.equal(decimalBrl(0n), '0')
  assert.equal(decimalUsd(7n), '0.000000000007')
  assert.equal(decimalE4(52_238n), '5.2238')
})

test('an amount in JSON has no exponent and no binary noise, however large', () => {
  assert.equal(
    JSON.stringify({ a: jsonBrl(1n), b: jsonBrl(123_456_789_012_345_678n) }),
    '{"a":0.000000001,"b":123456789.012345678}',
  )
})

test('every amount survives the round trip', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 9_000_000_000_000_000_000n }), (nano) => {
      assert.equal(parseBrl(decimalBrl(nano)), nano)
      assert.equal(parseUsd(decimalUsd(nano)), nano)
    }),
  )
})

test('text that is not a plain amount is not read', () => {
  for (const text of [
    '',
    '-1',
    '+1',
    '1e3',
    '1,5',
    ' 1',
    '.5',
    '1.',
    '0.0000000001',
    'NaN',
    '0x10',
  ]) {
    assert.equal(parseBrl(text), undefined, text)
  }
  assert.equal(parseE4('5.22381'), undefined)
  assert.equal(parseE4('5.22380'), 52_238n)
})

test('a text of very many zeros takes linear time', () => {
  assert.equal(parseBrl(`1.${'0'.repeat(100_000)}`), 1_000_000_000n)
  assertGrowsLinearly(4_000, (zeros) => () => {
    assert.equal(parseBrl(`1.${'0'.repeat(zeros)}1`), undefined)
  })
})

test('half a nano-BRL rounds up, less rounds down', () => {
  const one = { fxRateE4: 10_000n, markupE4: 10_000n }
  assert.equal(chargeFor(499n, one), 0n)
  assert.equal(chargeFor(500n, one), 1n)
  assert.equal(chargeFor(1_499n, one), 1n)
})
