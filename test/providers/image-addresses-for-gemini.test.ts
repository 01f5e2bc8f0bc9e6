// deep: an attack
/** Addresses of images that an upstream could open as something else: only their ending says that they lead to an image. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { contentOf, GOOGLE } from './test-provider.ts'

for (const [title, url] of [
  ['a host of the customer', 'https://images.test/film.png'],
  ['a host whose films Gemini opens', 'https://www.youtube.com/watch/film.png?v=abcdefghijk'],
  ['the files of the operator', 'https://generativelanguage.googleapis.com/v1beta/files/a.png'],
] as const) {
  test(`the address of an image that Gemini would open is not passed on: ${title}`, async () => {
    let sent = ''
    const server = createServer(async (request, response) => {
      sent = await text(request)
      response.writeHead(400, { 'content-type': 'application/json' }).end('{}')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const provider = GOOGLE.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const part = { type: 'image_url', image_url: { url } }
    const content = contentOf({
      model: GOOGLE.model,
      messages: [{ role: 'user', content: [part] }],
    })
    const bytes = await provider.measureChat?.(content)
    await provider.completeChat?.({ ...content, callId: 'call-1' }, AbortSignal.timeout(5_000))
    await provider.close()
    server.close()
    assert.ok(!sent.includes('fileUri'), `${bytes} bytes are held for ${sent}`)
  })
}
