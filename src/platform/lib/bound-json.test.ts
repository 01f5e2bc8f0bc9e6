import assert from 'node:assert/strict'
import { test } from 'node:test'
import { effort } from '../../../test/harness/effort.ts'
import fc, { anyCharacter } from '../../../test/harness/fast-check.ts'
import { findJsonExcess } from './bound-json.ts'

/** The exact numbers of a value, from the value itself. */
function measure(value: unknown): { depth: number; structures: number; entries: number } {
  if (typeof value !== 'object' || value === null) return { depth: 0, structures: 0, entries: 0 }
  const inner = Object.values(value).map(measure)
  const sum = (of: 'structures' | 'entries') => inner.reduce((total, each) => total + each[of], 0)
  return {
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
    structures: 1 + (Array.isArray(value) ? 0 : inner.length) + sum('structures'),
    entries: Math.max(0, inner.length - 1) + sum('entries'),
  }
}

const texts = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 200 }),
  // Backslashes and quotation marks at every distance, also beyond the reach of the short search.
  fc
    .array(fc.constantFrom('\\', '"', '\\"', 'x'.repeat(70), '{[,:', 'ç'), { maxLength: 12 })
    .map((parts) => parts.join('')),
)
const values = fc.jsonValue({ depthSize: 'medium', stringUnit: anyCharacter })

test('each bound is exact for any JSON, whatever its texts contain', () => {
  fc.assert(
    fc.property(
      values,
      fc.array(texts, { maxLength: 4 }),
      fc.constantFrom(0, 1, 3),
      (value, more, indent) => {
        const all = { value, more }
        const { depth, structures, entries } = measure(JSON.parse(JSON.stringify(all)))
        const text = Buffer.from(JSON.stringify(all, null, indent))
        const bounds = { depthMax: depth, structuresMax: structures, entriesMax: entries }
        assert.equal(findJsonExcess(text, bounds), undefined)
        assert.equal(findJsonExcess(text, { ...bounds, depthMax: depth - 1 }), 'depth')
        assert.equal(findJsonExcess(text, { ...bounds, structuresMax: structures - 1 }), 'size')
        if (entries > 0)
          assert.equal(findJsonExcess(text, { ...bounds, entriesMax: entries - 1 }), 'size')
      },
    ),
    { numRuns: effort({ ordinary: 2_000, full: 20_000 }) },
  )
})

test('bytes that are not JSON end the search', () => {
  const bounds = { depthMax: 5, structuresMax: 5, entriesMax: 5 }
  for (const text of [
    '',
    '"',
    '"\\',
    `"${'x'.repeat(100)}`,
    `"${'x'.repeat(100)}\\`,
    ']]]]',
    '"\\"',
  ])
    assert.equal(findJsonExcess(Buffer.from(text), bounds), undefined)
})
