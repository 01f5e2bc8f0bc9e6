import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inlinedGrowth, inlineImages } from './inline-images.ts'

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)
const image = (url: string, more: object = {}) => ({
  type: 'image_url',
  image_url: { url, ...more },
})

test('addresses of images become images, everything else stays, and the growth is bounded', async () => {
  const data = `data:image/png;base64,${PIXEL.toString('base64')}`
  const other = [
    { role: 'system', content: 'http://a.example/x.png' },
    { role: 'user', content: [image(data), { type: 'text', text: 'http://a.example/y.png' }] },
  ]
  const address = 'http://a.example/z.png'
  const body = {
    model: 'm',
    messages: [...other, { role: 'user', content: [image(address, { detail: 'low' })] }],
  }
  const asked: string[] = []
  const sent = await inlineImages(body, async (url) => {
    asked.push(url)
    return { mediaType: 'text/html', body: PIXEL }
  })
  assert.deepEqual(asked, [address])
  const messages = [...other, { role: 'user', content: [image(data, { detail: 'low' })] }]
  assert.deepEqual(sent, { model: 'm', messages })
  const grown =
    JSON.stringify(sent).length - data.split(',')[1]!.length - JSON.stringify(body).length
  assert.ok(grown <= inlinedGrowth(body))
  assert.equal(inlinedGrowth({ messages: other }), 0)
})

test('the address of a document is refused as an image', async () => {
  const download = async () => ({ mediaType: 'image/png', body: Buffer.from('%PDF-1.7') })
  const body = { messages: [{ role: 'user', content: [image('http://a.example/z.png')] }] }
  await assert.rejects(inlineImages(body, download), /does not lead to an image/)
})
