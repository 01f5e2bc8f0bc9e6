import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toPublishedForm } from './to-published-form.ts'

function plainOf(message: object): unknown {
  const body = { choices: [{ index: 0, message }] }
  toPublishedForm(body, 'message')
  return body.choices[0]?.message
}

test('contents that are lists of parts become texts, and thinking becomes reasoning', () => {
  const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'Vejamos' }, '.'] }
  const texts = [
    { type: 'text', text: 'Olá' },
    { type: 'text', text: '!' },
  ]
  assert.deepEqual(plainOf({ role: 'assistant', content: [thinking, ...texts] }), {
    role: 'assistant',
    content: 'Olá!',
    reasoning_content: 'Vejamos.',
  })
  assert.deepEqual(plainOf({ content: [{ type: 'thinking', thinking: 'Hum' }] }), {
    content: '',
    reasoning_content: 'Hum',
  })
})

test('other contents stay as they are, and unknown parts vanish', () => {
  for (const message of [{ content: 'Olá' }, { content: null }, { tool_calls: [] }])
    assert.deepEqual(plainOf({ ...message }), message)
  assert.deepEqual(plainOf({ content: [null, 1, [], {}, { type: 'reference' }] }), { content: '' })
  for (const body of [{}, { choices: null }, { choices: [null, 1, { delta: null }] }])
    toPublishedForm(body, 'delta')
})
