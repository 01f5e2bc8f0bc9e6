import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from './contract.ts'
import { DocumentRefused, DownloadRefused, type DownloadedFile } from './download-file.ts'
import { inlineDocuments, inlinedDocument, type InlinedDocuments } from './inline-documents.ts'

const PDF = Buffer.from('%PDF-1.7 and its pages')
const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
const ADDRESS = 'https://files.example.com/a.pdf'

function bodyOf(...files: JsonObject[]): JsonObject {
  const content = files.map((file) => ({ type: 'file', file }))
  return { model: 'm', messages: [{ role: 'user', content }] }
}

const filesOf = ({ body }: InlinedDocuments): unknown[] =>
  (body.messages as { content: { file: unknown }[] }[]).flatMap(({ content }) =>
    content.map(({ file }) => file),
  )

/** The file that becomes of one at this address, with this content. */
async function inlined(mediaType: string, body: Buffer, address = ADDRESS): Promise<unknown> {
  const download = async (): Promise<DownloadedFile> => ({ mediaType, body })
  return filesOf(await inlineDocuments(bodyOf({ file_data: address }), download))[0]
}

const fileOf = (type: string, body: Buffer, filename: string): JsonObject => ({
  filename,
  file_data: `data:${type};base64,${body.toString('base64')}`,
})

test('documents at addresses are put in their places, and everything else stays', async () => {
  const data = fileOf('application/pdf', Buffer.from('%PDF-1.4'), 'b.pdf')
  const body = bodyOf(data, { filename: 'meu.pdf', file_data: ADDRESS })
  const whole = await inlineDocuments(body, async (url) => {
    assert.equal(url, ADDRESS)
    return { mediaType: 'application/pdf', body: PDF }
  })
  const file = fileOf('application/pdf', PDF, 'meu.pdf')
  assert.deepEqual(filesOf(whole), [data, file])
  assert.equal(whole.documentBytes, String(file.file_data).length)
  assert.equal(inlinedDocument(whole, ADDRESS).url, file.file_data)
  assert.throws(() => inlinedDocument({}, ADDRESS), DocumentRefused)
})

test('the first bytes decide the type, else the host, else the ending of the address', async () => {
  const at = (path: string): string => `https://files.example.com/${path}`
  const text = Buffer.from('um texto')
  const unknown = 'application/octet-stream'
  const docx = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
  assert.deepEqual(await inlined(unknown, PDF), fileOf('application/pdf', PDF, 'document.pdf'))
  assert.deepEqual(await inlined('text/html', PNG), fileOf('image/png', PNG, 'document.png'))
  assert.deepEqual(await inlined('text/csv', text), fileOf('text/csv', text, 'document.csv'))
  assert.deepEqual(await inlined('text/x-new', text), fileOf('text/x-new', text, 'document.txt'))
  assert.deepEqual(
    await inlined(unknown, text, at('a.DOCX?b=.pdf')),
    fileOf(docx, text, 'document.docx'),
  )
})

test('what has no price as a document is refused, whatever its host and its address say', async () => {
  const sounds = ['ID3\x04', 'OggS', 'RIFF\0\0\0\0WAVE', '\0\0\0\x20ftypM4A ']
  const films = ['\0\0\0\x20ftypmp42', 'FLV\x01']
  for (const type of ['application/pdf', 'text/plain', 'application/octet-stream'])
    for (const head of [...sounds, ...films])
      await assert.rejects(inlined(type, Buffer.from(head, 'latin1')), DocumentRefused)
  for (const type of [
    'audio/mpeg',
    'video/mp4',
    'image/svg+xml',
    'application/zip',
    'text/plain,x',
    'image/png',
    `text/${'x'.repeat(300)}`,
  ])
    await assert.rejects(inlined(type, Buffer.from('um texto')), DocumentRefused, type)
  await assert.rejects(
    inlined('application/octet-stream', Buffer.from('MZ'), 'https://files.example.com/a.exe'),
    DocumentRefused,
  )
  const refused = inlineDocuments(bodyOf({ file_data: ADDRESS }), async () => {
    throw new DownloadRefused('too many files')
  })
  await assert.rejects(refused, DocumentRefused)
})

test('a text that is too long, or has characters of control, or is no UTF-8, is refused', async () => {
  const longest = Buffer.alloc(4 * 1024 * 1024, 'a\t\r\n')
  assert.ok(await inlined('text/plain', longest))
  for (const type of ['text/plain', 'application/json', 'text/x-new'])
    for (const body of [
      Buffer.concat([longest, Buffer.from('a')]),
      Buffer.from('a\0'),
      Buffer.from('a\x01'),
      Buffer.from('a\x1b'),
      Buffer.from('não', 'latin1'),
    ])
      await assert.rejects(inlined(type, body), DocumentRefused)
})
