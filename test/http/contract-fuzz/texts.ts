/** Texts and other values that often break interfaces. */
import fc from '../../harness/fast-check.ts'

/** JSON permits numbers that JavaScript cannot write: text between these delimiters is sent without quotes. */
const RAW_MARK = '\u{e000}raw:'
const RAW_END = '\u{e001}'

export function rawNumber(digits: string): string {
  return `${RAW_MARK}${digits}${RAW_END}`
}

/** `fill` returns the value of a slot. */
export function writeJson(value: unknown, fill: (value: unknown) => unknown): string {
  const text = JSON.stringify(value, (_name, part) => fill(part)) ?? ''
  return text.includes(RAW_MARK)
    ? text.replaceAll(new RegExp(`"?${RAW_MARK}([^${RAW_END}]*)${RAW_END}"?`, 'gu'), '$1')
    : text
}

const ODD_TEXTS = [
  '',
  ' ',
  'NaN',
  '1e400',
  '-1',
  'null',
  '__proto__',
  'constructor',
  "' or 1=1 --",
  '%s%n',
  '../../etc/passwd',
  '\u0000',
  'a\u0000b',
  '\ud800',
  'x\udfffy',
  '😀👩‍👩‍👧‍👦🇧🇷',
  'مرحبا \u202eolleh\u202c',
  'e\u0301\u0302\u0303 ação',
  '\ufeff\u200b\u2028\u2029',
  '\r\nx-injected: 1',
  '{{nome}} {{}} {{a b}} {{__proto__}}',
  '=cmd|calc!A1',
  '2026-02-30',
  '2026-11-21T25:61:61Z',
  '+275760-09-13T00:00:00.000Z',
  '00000000-0000-0000-0000-000000000000',
]

const LONG_LENGTHS = [1_000, 32_001, 120_000]

const longText: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom('a', 'é', '😀', '{{a}}'), fc.constantFrom(...LONG_LENGTHS))
  .map(([unit, length]) => unit.repeat(Math.ceil(length / unit.length)))

/** Any code points, including lone halves of surrogate pairs. */
const anyText: fc.Arbitrary<string> = fc
  .array(fc.nat({ max: 0x10ffff }), { maxLength: 30 })
  .map((points) => String.fromCodePoint(...points))

export const oddText: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...ODD_TEXTS) },
  { weight: 3, arbitrary: anyText },
  { weight: 1, arbitrary: fc.uuid() },
  { weight: 1, arbitrary: longText },
)

/** Ordinary text with a length from `min` to `max`, often exactly these. */
export function plainText(min: number, max: number): fc.Arbitrary<string> {
  const unit = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...Array.from('abc xyzéãç019-_')) },
    { weight: 1, arbitrary: fc.constantFrom('😀', 'م', '\u202e', '\u0301', '{', '}', '"', '\n') },
  )
  const usual = fc.string({ unit, minLength: min, maxLength: Math.min(max, Math.max(min, 24)) })
  return fc.oneof(
    { weight: 8, arbitrary: usual.map((text) => fitted(text, min, max)) },
    { weight: 1, arbitrary: fc.constantFrom('a'.repeat(min), 'b'.repeat(Math.min(max, 40_000))) },
  )
}

/** A unit may consist of two code units: a cut must not end within one. */
function fitted(text: string, min: number, max: number): string {
  const points = Array.from(text).slice(0, max)
  return points.join('').padEnd(min, 'x')
}

const ODD_NUMBERS: readonly unknown[] = [
  rawNumber('-0'),
  rawNumber('1e400'),
  rawNumber('-1e400'),
  rawNumber('1e-400'),
  rawNumber('0.1e1'),
  rawNumber('123456789012345678901234567890'),
  0,
  -1,
  1.5,
  1e-9,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31),
  2 ** 53,
  2 ** 63,
  Number.MAX_VALUE,
  Number.MIN_VALUE,
]

const DEEP: readonly unknown[] = [nested(50), nested(2_000), { a: { b: { c: nested(20) } } }]

/** Values of any type, which match the schema only by chance. */
export const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<unknown>(null, true, false, [], {}, [null], [[]]) },
  { weight: 4, arbitrary: fc.constantFrom(...ODD_NUMBERS) },
  { weight: 6, arbitrary: oddText },
  { weight: 2, arbitrary: fc.array(oddText, { maxLength: 4 }) },
  { weight: 1, arbitrary: fc.constant(Array.from({ length: 1_001 }, (_, at) => at)) },
  { weight: 2, arbitrary: fc.dictionary(oddText, fc.oneof(oddText, fc.integer()), { maxKeys: 4 }) },
  { weight: 1, arbitrary: fc.constantFrom(...DEEP) },
)

function nested(depth: number): unknown {
  let value: unknown = 'fundo'
  for (let level = 0; level < depth; level++) value = [value]
  return value
}
