import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../test/harness/fast-check.ts'
import { nearestModels } from './nearest-models.ts'

const IDS = [
  'claude-sonnet-5',
  'claude-haiku-4-5',
  'claude-opus-5-5',
  'gpt-5.2',
  'o3',
  'gpt-5-mini',
]

test('the three nearest names are told, whoever the maker in front is', () => {
  for (const name of ['claude-sonnet-5-5', 'anthropic/Claude-Sonnet-5-5']) {
    const [first, ...others] = nearestModels(name, IDS)
    assert.equal(first, 'claude-sonnet-5')
    assert.equal(others.length, 2)
  }
  assert.equal(nearestModels('gpt-5.2-sol', IDS)[0], 'gpt-5.2')
})

test('no long text is compared, and no name is told that the caller may not use', () => {
  assert.deepEqual(nearestModels('x'.repeat(1_000_000), IDS), [])
  assert.deepEqual(nearestModels('gpt-5', []), [])
})

/** Compares with every id, letter by letter. */
function nearestOfAll(name: string, ids: readonly string[]): string[] {
  const distance = (from: string, to: string): number => {
    let row = Array.from({ length: to.length + 1 }, (_, length) => length)
    for (let i = 1; i <= from.length; i++) {
      const next = [i]
      for (let j = 1; j <= to.length; j++)
        next.push(
          Math.min(
            (row[j] as number) + 1,
            (next[j - 1] as number) + 1,
            (row[j - 1] as number) + (from[i - 1] === to[j - 1] ? 0 : 1),
          ),
        )
      row = next
    }
    return row[to.length] as number
  }
  return ids
    .map((id) => ({ id, changes: distance(name, id) }))
    .sort((a, b) => a.changes - b.changes || (a.id < b.id ? -1 : 1))
    .slice(0, 3)
    .map(({ id }) => id)
}

test('the names that are not compared are none of the nearest', () => {
  const anyName = fc.string({ unit: fc.constantFrom('a', 'b', '5', '-', 'é', '😀'), maxLength: 9 })
  fc.assert(
    fc.property(anyName, fc.uniqueArray(anyName, { maxLength: 30 }), (name, ids) => {
      assert.deepEqual(nearestModels(name, ids), nearestOfAll(name, ids))
    }),
    { numRuns: 1_000 },
  )
})
