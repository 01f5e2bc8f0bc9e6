/**
 * fast-check with the seed of the run. The ordinary run generates the same cases each time, so that a commit that passes
 * goes on passing; `TEST_EFFORT=full` and `TEST_SEED` generate others.
 */
import fc from 'fast-check'
import { seedOr } from './effort.ts'

const CODE_POINT_MAX = 0x10_ffff
const SURROGATE_MIN = 0xd800
const SURROGATES = 0x800

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: seedOr(20_261_123) })

/**
 * Any character; for `unit` of strings. The library's own `binary` and `grapheme` cost a second in each process: they
 * build a table of all of Unicode as soon as an arbitrary is made.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .nat({ max: CODE_POINT_MAX - SURROGATES })
  .map(characterAt, placeOf)

/** Also those of several code points: decomposed letters, families, flags. */
export const anyGrapheme: fc.Arbitrary<string> = fc.oneof(
  { weight: 9, arbitrary: anyCharacter },
  { weight: 1, arbitrary: fc.constantFrom('e\u0301', 'a\u0303', 'c\u0327', '👨‍👩‍👧', '🇧🇷', '각') },
)

function characterAt(place: number): string {
  return String.fromCodePoint(place < SURROGATE_MIN ? place : place + SURROGATES)
}

function placeOf(text: unknown): number {
  const point = typeof text === 'string' ? text.codePointAt(0) : undefined
  if (point === undefined || text !== String.fromCodePoint(point)) throw new Error('no character')
  return point < SURROGATE_MIN ? point : point - SURROGATES
}

export default fc
