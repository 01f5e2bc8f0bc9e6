import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { findPlaceholders, renderPrompt, variablesOf, VARIABLES_MAX } from './placeholders.ts'

/** Names with a meaning in JavaScript among them. */
const name = fc.oneof(
  fc.stringMatching(/^[a-zA-Z0-9_]{1,40}$/),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', '0'),
)
/** Texts that look like placeholders, like patterns of replacing, or like parts of either. */
const value = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('{{a}}', '{{', '}}', '$&', '$1', "$'", '$<name>', '{{__proto__}}', ''),
  name.map((other) => `{{${other}}}`),
)
/** Between placeholders: no braces, so that none comes about by chance. */
const plainText = fc.string({ unit: 'binary' }).map((text) => text.replaceAll(/[{}]/g, '.'))

const BYTES_MAX = 1_000_000

test('each placeholder becomes its value, once, and all else stays as it was', () => {
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

test('a text of any kind is never rendered larger than the limit, and exactly at it still is', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('{{a}}', '{{b}}', '{', '}', 'á', '😀', 'x') }),
      fc.string({ unit: 'grapheme' }),
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

test('a value that would fill the memory by its many places is refused before it is copied', () => {
  const body = '{{a}}'.repeat(6_400)
  const values = new Map([['a', 'x'.repeat(10_000_000)]])
  assert.equal(renderPrompt({ body, variables: ['a'] }, values, 20_000_000).kind, 'too_long')
})

test('what is not the syntax of a placeholder is text', () => {
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

test('every variable needs its value, one that the text does not use too, and no other is taken', () => {
  const prompt = { body: '{{a}}', variables: ['a', 'b'] }
  const render = (values: Record<string, string>): unknown =>
    renderPrompt(prompt, new Map(Object.entries(values)), BYTES_MAX)
  assert.deepEqual(render({ a: '1', b: '2' }), { kind: 'rendered', text: '1' })
  assert.deepEqual(render({ a: '1' }), { kind: 'missing_value', name: 'b' })
  assert.deepEqual(render({ b: '1' }), { kind: 'missing_value', name: 'a' })
  assert.deepEqual(render({ a: '1', b: '2', c: '3' }), { kind: 'unknown_value', name: 'c' })
})

test('variables are those declared, which cover the text, or those of the text', () => {
  assert.deepEqual(variablesOf('{{b}} {{a}} {{ b }}', undefined), ['b', 'a'])
  assert.deepEqual(variablesOf('{{a}}', ['c', 'a', 'c']), ['c', 'a'])
  assert.deepEqual(variablesOf('nada', []), [])
  assert.deepEqual(variablesOf('{{a}} {{b}}', ['a']), { kind: 'undeclared_variable', name: 'b' })
  const many = (count: number): string =>
    Array.from({ length: count }, (_, index) => `{{v${index}}}`).join('')
  assert.equal((variablesOf(many(VARIABLES_MAX), undefined) as string[]).length, VARIABLES_MAX)
  assert.deepEqual(variablesOf(many(VARIABLES_MAX + 1), undefined), { kind: 'too_many_variables' })
})

test('a body made to be slow to read is read at once', () => {
  for (const body of ['{{'.repeat(16_000), `{{${' '.repeat(31_998)}`, `{{a${' '.repeat(31_997)}`])
    assert.deepEqual(findPlaceholders(body), [])
})
