import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../harness/fast-check.ts'
import * as server from '../../src/customers/prompts/placeholders.ts'
import { findPlaceholders, promptParts, VARIABLES_MAX } from '../../web/src/lib/placeholders.ts'

const body = fc
  .array(fc.constantFrom('{', '}', '{{', '}}', ' ', 'nome', 'a', 'ção', '\n', 'x'.repeat(40)), {
    maxLength: 14,
  })
  .map((parts) => parts.join(''))

test('the dashboard and the server find the same variables', () => {
  assert.equal(VARIABLES_MAX, server.VARIABLES_MAX)
  fc.assert(
    fc.property(body, (text) => {
      const names = server.findPlaceholders(text)
      assert.deepEqual(findPlaceholders(text), names)
      const parts = promptParts(text)
      assert.equal(parts.map((part) => part.text).join(''), text)
      const shown = parts.filter(({ kind }) => kind === 'variable').map(({ name }) => name)
      assert.deepEqual([...new Set(shown)], names)
    }),
    { numRuns: 500 },
  )
})

test('braces that look like a variable but are not are reported', () => {
  assert.deepEqual(
    promptParts('De {{ de }} para {{descrição}}.').map(({ kind, text }) => [kind, text]),
    [
      ['text', 'De '],
      ['variable', '{{ de }}'],
      ['text', ' para '],
      ['not_a_variable', '{{descrição}}'],
      ['text', '.'],
    ],
  )
})
