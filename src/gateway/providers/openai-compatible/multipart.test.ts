import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMultipartForm } from './multipart.ts'

const FILE = { field: 'file', name: 'a.wav', mediaType: 'audio/wav' }

/** The complete form, with its boundary replaced by `B`. */
function write(
  fields: Parameters<typeof createMultipartForm>[0],
  file: Partial<typeof FILE> = {},
): string {
  const { contentType, head, tail } = createMultipartForm(fields, { ...FILE, ...file })
  const [, boundary = ''] = /^multipart\/form-data; boundary=([a-z0-9-]+)$/.exec(contentType) ?? []
  assert.ok(boundary.length >= 36 && boundary.length <= 70)
  return Buffer.concat([head, Buffer.from('BYTES'), tail])
    .toString()
    .replaceAll(boundary, 'B')
}

function fileHeadOf(file: Partial<typeof FILE>): string {
  return write([], file).slice('--B\r\n'.length, -'\r\n\r\nBYTES\r\n--B--\r\n'.length)
}

test('a form is encoded byte for byte as the standard defines, with the file last', () => {
  assert.equal(
    write([
      ['model', 'whisper-1'],
      ['timestamp_granularities[]', 'word'],
      ['timestamp_granularities[]', 'segment'],
      ['prompt', ''],
    ]),
    '--B\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n' +
      '--B\r\nContent-Disposition: form-data; name="timestamp_granularities[]"\r\n\r\nword\r\n' +
      '--B\r\nContent-Disposition: form-data; name="timestamp_granularities[]"\r\n\r\nsegment\r\n' +
      '--B\r\nContent-Disposition: form-data; name="prompt"\r\n\r\n\r\n' +
      '--B\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n' +
      'Content-Type: audio/wav\r\n\r\nBYTES\r\n--B--\r\n',
  )
})

test('a file name keeps every character except the three that the standard escapes', () => {
  for (const [name, written] of [
    ['reunião nº 1 — ação.mp3', 'reunião nº 1 — ação.mp3'],
    ['🎙️ entrevista.m4a', '🎙️ entrevista.m4a'],
    ['say "hi".wav', 'say %22hi%22.wav'],
    ['a\nb\rc\r\nd.wav', 'a%0Ab%0Dc%0D%0Ad.wav'],
    ['100%22.wav', '100%22.wav'],
    ['a\\b;c=d.wav', 'a\\b;c=d.wav'],
    ['"; name="model', '%22; name=%22model'],
    ['\ud800.wav', '\ufffd.wav'],
    ['', ''],
  ] as const) {
    assert.equal(
      fileHeadOf({ name }),
      `Content-Disposition: form-data; name="file"; filename="${written}"\r\nContent-Type: audio/wav`,
    )
  }
})

test('a field keeps its text, with normalized line ends, and its name cannot inject headers', () => {
  const [, field] = write([['a"\nb', 'x\ny\rz\r\n--B--\n"ç🎙️']]).split(/^--B\r\n/m)
  assert.equal(
    field,
    'Content-Disposition: form-data; name="a%22%0D%0Ab"\r\n\r\nx\r\ny\r\nz\r\n--B--\r\n"ç🎙️\r\n',
  )
})

test('a media type that would inject a header is replaced', () => {
  for (const mediaType of ['', 'audio/wav\r\nx-evil: 1', 'áudio/wav', 'a\0b']) {
    assert.ok(fileHeadOf({ mediaType }).endsWith('\r\nContent-Type: application/octet-stream'))
  }
})

test('no two forms have the same boundary', () => {
  const types = Array.from({ length: 100 }, () => createMultipartForm([], FILE).contentType)
  assert.equal(new Set(types).size, 100)
})
