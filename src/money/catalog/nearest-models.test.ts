import assert from 'node:assert/strict'
import { test } from 'node:test'
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
