import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc, { anyCharacter, anyGrapheme } from '../../../test/harness/fast-check.ts'
import { findPlaceholders, renderPrompt, variablesOf, VARIABLES_MAX } from './placeholders.ts'

/** Includes names with a meaning in JavaScript. */
const name = fc.oneof(
  fc.stringMatching(/^[a-zA-Z0-9_]{1,40}$/),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', '0'),
)
/** Includes texts that look like placeholders or replacement patterns, or like parts of them. */
const value = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.constantFrom('{{a}}', '{{', '}}', '$&', '$1', "$'", '$<name>', '{{__proto__}}', ''),
  name.map((other) => `{{${other}}}`),
)
/** Text between placeholders, without braces, so that no placeholder arises by chance. */
const plainText = fc.string({ unit: anyCharacter }).map((text) => text.replaceAll(/[{}]/g, '.'))

const BYTES_MAX = 1_000_000

test('each placeholder is replaced by its value once, and all other text stays', () => {
  const piece = fc.record({ before: plainText, name, spaces: fc.constantFrom('', ' ', '   ') })
  fc.assert(
    fc.property(fc.array(piece), plainText, fc.func(value), (pieces, end, valueOf) => {
      const names = [...new Set(pieces.map((each) => each.name))]
      const values = new Map(names.map((each) => [each, valueOf(each)]))
      const join = (write: (each: (typeof pieces)[number]) => string): string =>
        pieces.map((each) => each.before + write(each)).join('') + end
      const body = join((each) => `{{${each.spaces}${each.name}${each.spaces}}}`)

      assert.deepEqual(findPlaceholders(body), names)
      assert.deepEqual(renderPrompt({ body, variables: names }, values, BYTES_MAX), {
        kind: 'rendered',
        text: join((each) => values.get(each.name) as string),
      })
    }),
  )
})

test('no text is rendered beyond the limit, and a text of exactly the limit is rendered', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('{{a}}', '{{b}}', '{', '}', 'á', '😀', 'x') }),
      fc.string({ unit: anyGrapheme }),
      (body, text) => {
        const variables = ['a', 'b']
        const values = new Map([
          ['a', text],
          ['b', `${text}{{a}}`],
        ])
        const free = renderPrompt({ body, variables }, values, Infinity)
        assert.equal(free.kind, 'rendered')
        const bytes = Buffer.byteLength(free.kind === 'rendered' ? free.text : '')
        assert.deepEqual(renderPrompt({ body, variables }, values, bytes), free)
        assert.equal(renderPrompt({ body, variables }, values, bytes - 1).kind, 'too_long')
      },
    ),
  )
})

test('a value that would exceed the memory by its many placeholders is refused before it is copied', () => {
  const body = '{{a}}'.repeat(6_400)
  const values = new Map([['a', 'x'.repeat(10_000_000)]])
  assert.equal(renderPrompt({ body, variables: ['a'] }, values, 20_000_000).kind, 'too_long')
})

test('other uses of braces are text', () => {
  const texts = ['{a}', '{{}}', '{{ }}', '{{a-b}}', '{{á}}', '{{a b}}', '{{a', 'a}}', '{{\na}}']
  for (const body of [...texts, `{{${'x'.repeat(41)}}}`]) {
    assert.deepEqual(findPlaceholders(body), [], body)
    const rendered = renderPrompt({ body, variables: [] }, new Map(), BYTES_MAX)
    assert.deepEqual(rendered, { kind: 'rendered', text: body })
  }
  assert.deepEqual(renderPrompt({ body: '{{{a}}}', variables: ['a'] }, new Map([['a', '1']]), 99), {
    kind: 'rendered',
    text: '{1}',
  })
})

test('every variable needs a value, even if the text does not use it, and a value too many is not used', () => {
  const prompt = { body: '{{a}}', variables: ['a', 'b'] }
  const render = (values: Record<string, string>): unknown =>
    renderPrompt(prompt, new Map(Object.entries(values)), BYTES_MAX)
  assert.deepEqual(render({ a: '1', b: '2' }), { kind: 'rendered', text: '1' })
  assert.deepEqual(render({ a: '1' }), { kind: 'missing_value', name: 'b' })
  assert.deepEqual(render({ b: '1' }), { kind: 'missing_value', name: 'a' })
  assert.deepEqual(render({ a: '1', b: '2', c: '3' }), { kind: 'rendered', text: '1' })
})

test('variables are the declared ones, which must cover the text, or else those of the text', () => {
  assert.deepEqual(variablesOf('{{b}} {{a}} {{ b }}', undefined), ['b', 'a'])
  assert.deepEqual(variablesOf('{{a}}', ['c', 'a', 'c']), ['c', 'a'])
  assert.deepEqual(variablesOf('nada', []), [])
  assert.deepEqual(variablesOf('{{a}} {{b}}', ['a']), { kind: 'undeclared_variable', name: 'b' })
  const many = (count: number): string =>
    Array.from({ length: count }, (_, index) => `{{v${index}}}`).join('')
  assert.equal((variablesOf(many(VARIABLES_MAX), undefined) as string[]).length, VARIABLES_MAX)
  assert.deepEqual(variablesOf(many(VARIABLES_MAX + 1), undefined), { kind: 'too_many_variables' })
})

test('a body that is crafted to be slow is read at once', () => {
  for (const body of ['{{'.repeat(16_000), `{{${' '.repeat(31_998)}`, `{{a${' '.repeat(31_997)}`])
    assert.deepEqual(findPlaceholders(body), [])
})
