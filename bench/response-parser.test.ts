import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ResponseParser } from './response-parser.ts'

const plain = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nhallo'
const events =
  'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n' +
  'b\r\ndata: {}\n\n\n\r\n8;name=value\r\ndata: [D\r\n6\r\nONE]\n\n\r\n0\r\n\r\n'

test('a response is complete at its last byte, wherever it is split', () => {
  for (const [text, bodyBytes] of [
    [plain, 5],
    [events, 25],
  ] as const) {
    for (let cut = 1; cut < text.length; cut += 1) {
      const parser = new ResponseParser()
      assert.equal(parser.push(Buffer.from(text.slice(0, cut))), false, `cut at ${cut}`)
      assert.equal(parser.push(Buffer.from(text.slice(cut))), true, `cut at ${cut}`)
      assert.equal(parser.status, 200)
      assert.equal(parser.bodyBytes, bodyBytes)
      assert.equal(parser.hasEnd('[DONE]'), text === events)
    }
  }
})

test('a response is complete when it arrives byte by byte', () => {
  const parser = new ResponseParser()
  const bytes = Buffer.from(events + plain)
  const ends = Array.from(bytes, (byte) => parser.push(Buffer.of(byte)))
  assert.equal(ends.indexOf(true), events.length - 1)
  assert.equal(ends.lastIndexOf(true), events.length + plain.length - 1)
})

test('a stream that ends early is not complete', () => {
  const parser = new ResponseParser()
  const cut = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\na\r\ndata: {}\n\n\r\n0\r\n\r\n'
  assert.equal(parser.push(Buffer.from(events)), true)
  assert.equal(parser.hasEnd('[DONE]'), true)
  assert.equal(parser.push(Buffer.from(cut)), true)
  assert.equal(parser.hasEnd('[DONE]'), false)
})

test('a response without a length, or with bytes after its end, is refused', () => {
  const push = (text: string) => new ResponseParser().push(Buffer.from(text))
  assert.throws(() => push('HTTP/1.1 200 OK\r\n\r\n'), /without length/)
  assert.throws(() => push(`${plain}x`), /after the end/)
  assert.throws(() => push('SSH-2.0-OpenSSH\r\n\r\n'), /not a response/)
})

test("a server's announcement that it closes the connection is noticed", () => {
  const parser = new ResponseParser()
  parser.push(Buffer.from('HTTP/1.1 200 OK\r\nConnection: close\r\ncontent-length: 0\r\n\r\n'))
  assert.equal(parser.isLast, true)
})
