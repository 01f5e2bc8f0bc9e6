/** Texts with many tokens for their bytes, and with many bytes for their characters. */
import fc, { anyCharacter } from '../harness/fast-check.ts'
import { numeral } from './json-text.ts'

const PIECES = [
  'a',
  'é',
  '0',
  ' ',
  '\n',
  '\u0000',
  '\u001f',
  '"',
  '\\',
  'ã',
  'क्षत्रिय',
  'नमस्ते दुनिया',
  '漢字仮名',
  '👩‍👩‍👧‍👦',
  '\ud800',
  '<|im_start|>',
  '</s>',
  'the quick brown fox',
  '{"a":[1,2]}',
  '𒀀𒁀',
  'zq',
  '\u00a0\u200b',
]

export const shortText: fc.Arbitrary<string> = fc
  .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 6 })
  .map((pieces) => pieces.join(''))

/** Sometimes long, and then a single repeated piece. */
export const text: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: shortText },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...PIECES), fc.integer({ min: 1, max: 400 }))
      .map(([piece, times]) => piece.repeat(times)),
  },
  { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 300, unit: anyCharacter }) },
)

/** A name of the maximum length that providers accept. */
export const name: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom('f', 'get_weather'),
  fc
    .array(fc.constantFrom(...'abcxyzQZ0179_-'.split('')), { minLength: 64, maxLength: 64 })
    .map((letters) => letters.join('')),
)

/** Short as sent, long when another program writes it again. */
const number: fc.Arbitrary<number | string> = fc.oneof(
  fc.integer({ min: -9, max: 9 }),
  fc.constantFrom(...['1e20', '9e20', '1E19', '-1e20', '5e-324', '1e-6', '0.1'].map(numeral)),
)

/** A few, or very many that are all short. */
const numbers: fc.Arbitrary<(number | string)[]> = fc.oneof(
  fc.array(number, { maxLength: 5 }),
  fc
    .tuple(number, fc.integer({ min: 1, max: 300 }))
    .map(([each, times]) => Array.from({ length: times }, () => each)),
)

/** Any JSON. */
export const anyJson: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.boolean(),
    number,
    shortText,
    numbers,
    fc.array(tie('node'), { maxLength: 4 }),
    fc.dictionary(shortText, tie('node'), { maxKeys: 4 }),
  ),
})).node

/** A parameter schema, with values that are passed on unchanged. */
export const schema: fc.Arbitrary<object> = fc
  .record({
    properties: fc.dictionary(
      name,
      fc.oneof(
        fc.record({ type: fc.constant('string'), description: shortText }),
        fc.record({ type: fc.constant('number'), maximum: number, enum: numbers }),
        fc.record({ type: fc.constant('string'), enum: fc.array(shortText, { maxLength: 8 }) }),
        fc.record({ type: fc.constant('string'), const: shortText, default: anyJson }),
      ),
      { maxKeys: 4 },
    ),
    description: shortText,
  })
  .map(({ properties, description }) => ({ type: 'object', properties, description }))

/** A value for a body property that nobody knows. */
export const sometimes = <Value>(
  arbitrary: fc.Arbitrary<Value>,
  times = 6,
): fc.Arbitrary<Value | undefined> => fc.option(arbitrary, { nil: undefined, freq: times })
