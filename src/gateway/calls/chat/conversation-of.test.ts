import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../providers/contract.ts'
import { CACHED_FROM_BYTES, conversationOf } from './conversation-of.ts'

const LONG = 'a'.repeat(CACHED_FROM_BYTES)
const SYSTEM = { role: 'system', content: LONG }

function nameOf(
  messages: JsonObject[],
  more: JsonObject = {},
  sessionId?: string,
): string | undefined {
  const bytes = JSON.stringify(messages).length
  return conversationOf({ body: more, messages, bytes }, sessionId)
}

test('all turns of a conversation have its name, whatever their marks and tools', () => {
  const first = nameOf([SYSTEM, { role: 'user', content: 'Olá.' }])
  assert.ok(first)
  const mark = { cache_control: { type: 'ephemeral' } }
  const marked = [
    { role: 'system', content: [{ type: 'text', text: LONG, ...mark }] },
    { role: 'user', content: [{ type: 'text', text: 'Olá.', ...mark }] },
  ]
  const later = [...marked, { role: 'assistant', content: 'Oi.' }, { role: 'user', content: 'Vá.' }]
  assert.equal(nameOf(later, { tools: [{ type: 'function' }] }), first)
  assert.notEqual(nameOf([SYSTEM, { role: 'user', content: 'Tchau.' }]), first)
  assert.notEqual(
    nameOf([
      { ...SYSTEM, content: `b${LONG}` },
      { role: 'user', content: 'Olá.' },
    ]),
    first,
  )
})

test('the key of the cache counts before the session, and both before the beginning', () => {
  const messages = [SYSTEM, { role: 'user', content: 'Olá.' }]
  assert.equal(nameOf(messages, { prompt_cache_key: 'k' }, 's'), 'k')
  assert.equal(nameOf(messages, {}, 's'), 's')
})

test('a prompt that no provider caches has no name, nor has one without words of a user', () => {
  assert.equal(nameOf([{ role: 'user', content: 'Olá.' }]), undefined)
  assert.equal(nameOf([SYSTEM]), undefined)
})
