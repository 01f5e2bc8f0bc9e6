import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCountKeeper } from './sandbox-counts.ts'

test('beyond the limit the oldest call record is dropped, and the sums stay', () => {
  const keeper = createCountKeeper(2)
  const { counts } = keeper
  for (const id of ['a', 'b', 'a', 'c', 'd', 'e']) {
    keeper.begin(id)
    keeper.end(id, 'completed', { promptTokens: 1, completionTokens: 2 })
  }
  assert.deepEqual([...counts.calls.keys()], ['d', 'e'])
  assert.equal(counts.requests, 6)
  assert.equal(counts.completed, 6)
  assert.equal(counts.completionTokens, 12)
})

test('an answer that was not completed adds no tokens', () => {
  const keeper = createCountKeeper()
  const { counts } = keeper
  for (const outcome of ['refused', 'broken', 'aborted'] as const) {
    keeper.begin('a')
    keeper.end('a', outcome, { promptTokens: 1, completionTokens: 2 })
  }
  assert.equal(counts.promptTokens + counts.completionTokens, 0)
  assert.equal(counts.calls.get('a')?.started, 3)
})
