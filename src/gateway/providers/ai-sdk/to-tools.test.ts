import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toTools } from './to-tools.ts'

const named = (name: string): object => ({ type: 'function', function: { name } })
const tools = ['a', 'b', 'c'].map(named)

function chosen(choice: unknown) {
  const { tools: sent = [], toolChoice } = toTools({ tools, tool_choice: choice })
  return [sent.map(({ name }) => name).join(''), toolChoice]
}

test('the forms of tool_choice', () => {
  assert.deepEqual(chosen(undefined), ['abc', undefined])
  assert.deepEqual(chosen('required'), ['abc', { type: 'required' }])
  assert.deepEqual(chosen(named('b')), ['abc', { type: 'tool', toolName: 'b' }])
  const allowed = (mode: string): object => ({
    type: 'allowed_tools',
    allowed_tools: { mode, tools: [named('a'), named('c')] },
  })
  assert.deepEqual(chosen(allowed('auto')), ['ac', { type: 'auto' }])
  assert.deepEqual(chosen(allowed('required')), ['ac', { type: 'required' }])
})
