import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../test/harness/fast-check.ts'
import { createSseReader } from './sse.ts'

const text =
  ': ping\r\n\r\ndata: {"a":"ação 🎟️"}\n\nevent: x\ndata: one\ndata: two\n\ndata:[DONE]\r\n\r\n'
const expected = ['{"a":"ação 🎟️"}', 'one\ntwo', '[DONE]']

test('events are the same wherever their bytes are cut', () => {
  const bytes = Buffer.from(text)
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 30 }), (cuts) => {
      const reader = createSseReader(1_000)
      const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length]
      const events = edges
        .slice(1)
        .flatMap((end, index) => reader.push(bytes.subarray(edges[index], end)))
      assert.deepEqual(events, expected)
    }),
  )
})

test('an event without end does not exhaust memory', () => {
  const reader = createSseReader(1_000)
  assert.throws(() => reader.push(Buffer.from(`data: ${'x'.repeat(2_000)}`)), RangeError)
})

test('an event of many lines without end is rejected too', () => {
  const reader = createSseReader(1_000)
  const line = Buffer.from(`data: ${'x'.repeat(100)}\n`)
  assert.throws(() => {
    for (let count = 0; count < 20; count += 1) reader.push(line)
  }, RangeError)
})

test('a line that comes in many parts is searched for its end once, not anew with each part', (context) => {
  const reader = createSseReader(1_000_000)
  let searched = 0
  // oxlint-disable-next-line typescript/unbound-method -- called with its text
  const indexOf = String.prototype.indexOf
  context.mock.method(String.prototype, 'indexOf', function (this: string, text: string, from = 0) {
    if (text === '\n') searched += this.length - from
    return indexOf.call(this, text, from)
  })
  const part = Buffer.from('x'.repeat(100))
  const parts = 5_000
  reader.push(Buffer.from('data: '))
  for (let count = 0; count < parts; count += 1) reader.push(part)
  const [event] = reader.push(Buffer.from('\n\n'))
  assert.equal(event?.length, parts * part.length)
  assert.ok(searched > 0 && searched < 2 * parts * part.length, `${searched} characters`)
})
