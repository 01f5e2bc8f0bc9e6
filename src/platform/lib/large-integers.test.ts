import assert from 'node:assert/strict'
import { test } from 'node:test'
import { effort, seedOr } from '../../../test/harness/effort.ts'
import fc from '../../../test/harness/fast-check.ts'
import { markIntegers, parseExactly, unmarkIntegers } from './exact-json.ts'

/** A document of JSON as its text, with integers of up to forty digits and texts that look like them. */
const digits = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(String)
const { document } = fc.letrec<{ document: string; node: string }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    digits,
    digits.map((text) => JSON.stringify(`"${text}:\\`)),
    fc.constantFrom('0.12345678901234567', '"1,12345678901234567890"', 'null', '""'),
    fc.array(tie('node'), { maxLength: 4 }).map((nodes) => `[${nodes.join(',')}]`),
    fc
      .array(fc.tuple(fc.oneof(digits, fc.constant('__proto__')), tie('node')), { maxLength: 4 })
      .map((fields) => new Map(fields))
      .map(
        (fields) =>
          `{${[...fields].map(([name, node]) => `${JSON.stringify(`n${name}`)}:${node}`).join(',')}}`,
      ),
  ),
  document: tie('node'),
}))

test('a document is written as it was read, digit by digit', () => {
  fc.assert(
    fc.property(document, (text) => {
      const plain = text.replaceAll('0.12345678901234567', '0.12345678901234566')
      assert.equal(JSON.stringify(parseExactly(text)), plain)
      assert.equal(unmarkIntegers(JSON.stringify(JSON.parse(markIntegers(text)))), plain)
    }),
    { numRuns: effort({ ordinary: 300, full: 20_000 }), seed: seedOr(20261128) },
  )
})

test('what is no JSON is refused as by JSON.parse', () => {
  for (const text of ['', '{', '12345678901234567890x', '[12345678901234567890,]', '-'])
    assert.throws(() => parseExactly(text), SyntaxError)
})

test('a field named __proto__ is a field', () => {
  const value = parseExactly('{"__proto__":12345678901234567890}') as object
  assert.equal(Object.getPrototypeOf(value), Object.prototype)
  assert.equal(JSON.stringify(value), '{"__proto__":12345678901234567890}')
})

test('a string as long as a body may be is read beside a large integer, whatever it consists of', () => {
  for (const unit of ['a', String.raw`\n`, String.raw`\"`, '1234567890123456 ']) {
    const string = unit.repeat((20 * 1024 * 1024) / unit.length)
    const text = `{"before":12345678901234567890,"string":"${string}","behind":-12345678901234567890}`
    const value = parseExactly(text) as { string: string }
    assert.equal(value.string, JSON.parse(`"${string}"`))
    const { string: _, ...others } = value
    assert.equal(
      JSON.stringify(others),
      '{"before":12345678901234567890,"behind":-12345678901234567890}',
    )
  }
})

test('many large integers take a time that grows with their number alone', () => {
  const list = `[${Array.from({ length: 200_000 }, () => '12345678901234567890').join(',')}]`
  const startedAt = performance.now()
  markIntegers(`{"list":${list},"text":"12345678901234567890"}`)
  assert.ok(performance.now() - startedAt < 2_000)
})
