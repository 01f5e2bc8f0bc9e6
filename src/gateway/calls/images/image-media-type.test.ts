import assert from 'node:assert/strict'
import { test } from 'node:test'
import { imageMediaType } from './image-request.ts'

const of = (...bytes: readonly (number | string)[]): string =>
  imageMediaType(
    Buffer.concat(
      bytes.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from([part]))),
    ).toString('base64'),
  )

test('the first bytes decide the media type of an image', () => {
  assert.equal(of(0x89, 'PNG\r\n', 0x1a, '\n', 'rest of it'), 'image/png')
  assert.equal(of(0xff, 0xd8, 0xff, 0xe0, 'rest of it'), 'image/jpeg')
  assert.equal(of('RIFF', 1, 2, 3, 4, 'WEBP', 'VP8 rest'), 'image/webp')
})

test('unknown content is served as an image, never as a page or a script', () => {
  for (const text of ['<html><script>', '', 'RIFF', 'RIFF1234WAVEfmt ', '<svg onload="x">'])
    assert.equal(of(text), 'image/png')
  assert.equal(imageMediaType('%%%'), 'image/png')
})
