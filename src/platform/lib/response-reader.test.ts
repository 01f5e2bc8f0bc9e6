import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertGrowsLinearly } from '../../../test/harness/grows-linearly.ts'
import { BadResponse, ResponseReader, type ResponseHeaders } from './response-reader.ts'

function headersOf(lines: string): ResponseHeaders {
  let found: ResponseHeaders | undefined
  const reader = new ResponseReader({
    head: (_status, headers) => void (found = headers),
    data: () => {},
    end: () => {},
  })
  reader.expect()
  reader.push(Buffer.from(`HTTP/1.1 200 OK\r\n${lines}\r\n`, 'latin1'))
  assert.ok(found)
  return found
}

test('spaces around a value are none of it, those within it are', () => {
  assert.deepEqual(
    { ...headersOf('A:\r\nb: \t \r\nC:x\r\nd: \t x \t y\t \r\ne: 1\r\nE:2\r\ne: 3 \r\n') },
    { a: '', b: '', c: 'x', d: 'x \t y', e: ['1', '2', '3'] },
  )
  for (const line of [': x', 'a', 'a b: x', ' a: x', 'a : x', 'a: x\ny', 'a: x\ry', 'é: x'])
    assert.throws(() => headersOf(`${line}\r\n`), BadResponse, JSON.stringify(line))
})

test('a head takes linear time, whatever fills it', () => {
  for (const lineOf of [
    (size: number) => `a: x${' '.repeat(size)}x\r\n`,
    (size: number) => `a: x${'\t '.repeat(size / 2)}x\r\n`,
    (size: number) => 'a:\r\n'.repeat(size / 4),
    (size: number) => `a${'-'.repeat(size)}: x\r\n`,
  ])
    // The longest head has 64 kB.
    assertGrowsLinearly(8_000, (size) => () => void headersOf(lineOf(size)))
})
