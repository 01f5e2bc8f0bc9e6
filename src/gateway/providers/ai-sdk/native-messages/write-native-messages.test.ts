import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../contract.ts'
import { writeNativeMessages } from './write-native-messages.ts'

const MODEL = 'claude-sonnet-4-5'
const HEAD = { model: MODEL, max_tokens: 100 }
const DATA = 'iVBORw0KGgo'.repeat(1_000)
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: DATA } }

function write(...blocks: JsonObject[]) {
  const messages = [{ role: 'user', content: blocks }]
  const native = {
    format: 'messages' as const,
    body: { model: 'm', messages },
    flags: [],
    webSearches: 0,
  }
  const content = { body: {}, native, memo: {} } as never
  const written = writeNativeMessages(content, 'anthropic', MODEL)
  assert.ok(written, 'the request is sent as it is')
  return { text: written.write(HEAD), bytes: written.measure(HEAD) }
}

test('images are sent where the translation counts them, and nowhere else', () => {
  const hidden = { type: 'content', content: [image] }
  const sent = write(
    { type: 'text', text: 'Olá', source: hidden, content: [image] },
    {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'a' },
      content: [image],
    },
    { type: 'search_result', source: hidden, title: 'b', content: [{ type: 'text', text: 'c' }] },
    { type: 'tool_result', tool_use_id: 'd', content: 'e', source: hidden },
  )
  assert.ok(!sent.text.includes('iVBORw0KGgo'), 'no image is sent')
  assert.equal(sent.bytes, Buffer.byteLength(sent.text))
})

test('an address is sent where the translation checks it, and nowhere else', () => {
  const source = { type: 'url', url: 'http://169.254.169.254/' }
  const sent = write(
    { type: 'text', text: 'Olá', source },
    { type: 'search_result', source, title: 'b', content: [] },
  )
  assert.ok(!sent.text.includes('169.254'), 'no address is sent')
  assert.throws(() => write({ type: 'document', source }), /not downloaded/)
})

test('the images of messages, documents and results of tools are sent and not measured', () => {
  const { text, bytes } = write(
    image,
    { type: 'document', source: { type: 'content', content: [image] } },
    { type: 'tool_result', tool_use_id: 'a', content: [image] },
  )
  assert.equal(text.split(DATA).length - 1, 3)
  assert.equal(bytes, Buffer.byteLength(text) - 3 * DATA.length)
})

test('only the upstream whose usage counts searches is offered the search', () => {
  const body = {
    model: 'm',
    messages: [{ role: 'user', content: 'Olá' }],
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
  }
  const native = { format: 'messages' as const, body, flags: [], webSearches: 5 }
  const content = { body: {}, native, webSearchesMax: 5, memo: {} } as never
  const textFor = (kind: 'anthropic' | 'google-vertex') =>
    writeNativeMessages(content, kind, MODEL)?.write(HEAD) ?? ''
  assert.match(textFor('anthropic'), /"max_uses":5/)
  assert.match(textFor('google-vertex'), /"messages"/)
  assert.doesNotMatch(textFor('google-vertex'), /web_search/)
})
