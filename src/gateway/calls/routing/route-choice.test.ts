import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../../test/harness/fast-check.ts'
import { findProviderFault, splitVariant, takeChoice } from './route-choice.ts'

function maxPrompt(prompt: unknown): bigint | undefined {
  const body = { provider: { max_price: { prompt } } }
  return findProviderFault(body) === undefined ? takeChoice(body)?.maxPrice?.prompt : undefined
}

test('a limit of a price is read digit by digit, and never rounded up', () => {
  assert.equal(maxPrompt(0.15), 1_500_000_000n)
  assert.equal(maxPrompt('3.75'), 37_500_000_000n)
  assert.equal(maxPrompt(0.1 + 0.2), 3_000_000_000n)
  assert.equal(maxPrompt('0.29999999999999'), 2_999_999_999n)
  assert.equal(maxPrompt(1e-7), 1_000n)
  assert.equal(maxPrompt(0), 0n)
  for (const odd of [-1, '-1', '1e3', '', ' 1', NaN, Infinity, 1e30, true, {}, []])
    assert.equal(maxPrompt(odd), undefined, JSON.stringify(odd))
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 17n }), fc.nat({ max: 9 }), (units, more) => {
      const digits = units.toString().padStart(11, '0')
      const text = `${digits.slice(0, -10)}.${digits.slice(-10)}${more}`
      assert.equal(maxPrompt(text), units)
    }),
  )
})

test('the variant is what follows the last colon, and other names keep theirs', () => {
  assert.deepEqual(splitVariant('a:b:floor'), { name: 'a:b', sort: 'price' })
  assert.deepEqual(splitVariant('a:nitro'), { name: 'a', sort: 'fastest' })
  for (const name of ['a', 'a:free', 'a:constructor', 'floor', 'a:floor:8b'])
    assert.deepEqual(splitVariant(name), { name, sort: undefined })
})

test('a wish is taken out of the body, with its unknown fields', () => {
  const body = { model: 'a', provider: { only: ['  OpenAI '], require_parameters: true } }
  assert.equal(findProviderFault(body), undefined)
  assert.deepEqual(takeChoice(body)?.only, ['openai'])
  assert.deepEqual(body, { model: 'a' })
  for (const empty of [
    null,
    undefined,
    {},
    { only: [], zdr: false, quantizations: [], sort: null },
  ])
    assert.equal(findProviderFault({ provider: empty }), undefined)
})
