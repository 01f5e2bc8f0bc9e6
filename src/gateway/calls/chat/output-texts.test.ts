import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countOutput } from './output-texts.ts'

function count(...deltas: unknown[]) {
  const output = { deltas: 0, bytes: 0, writtenBytes: 0 }
  for (const delta of deltas) countOutput({ choices: [{ delta }] }, output)
  return output
}

test('each text counts once in every total, in bytes', () => {
  assert.deepEqual(count({ content: 'ação' }, { reasoning: 'ok', refusal: 'no' }), {
    deltas: 3,
    bytes: 10,
    writtenBytes: 10,
    hasReasoning: true,
  })
})

test('a tool call counts with its JSON, but only its name and arguments count against the limit', () => {
  const call = { index: 0, id: 'c1', function: { name: 'f', arguments: '{}' } }
  const { deltas, bytes, writtenBytes } = count({ tool_calls: [call] })
  assert.deepEqual([deltas, writtenBytes], [1, 3])
  assert.equal(bytes, JSON.stringify(call).length)
})

test('later deltas of a tool call count with the text that they add', () => {
  const first = { index: 0, id: 'c1', function: { name: 'f', arguments: '' } }
  const later = Array.from({ length: 100 }, () => ({ index: 0, function: { arguments: 'abcd' } }))
  const { deltas, bytes } = count(...[first, ...later].map((call) => ({ tool_calls: [call] })))
  assert.equal(deltas, 101)
  assert.equal(bytes, JSON.stringify(first).length + 400)
})

test('malformed chunks count nothing', () => {
  for (const body of [
    {},
    { choices: null },
    { choices: [null, 1, { delta: null }, { delta: [] }] },
  ]) {
    const output = { deltas: 0, bytes: 0, writtenBytes: 0 }
    countOutput(body, output)
    assert.deepEqual(output, { deltas: 0, bytes: 0, writtenBytes: 0 })
  }
  assert.deepEqual(count({ content: '' }, { tool_calls: 'x' }).writtenBytes, 0)
})
