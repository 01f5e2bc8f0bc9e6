import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { crc32, inflateSync } from 'node:zlib'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import OpenAI from 'openai'
import { startSandboxUpstream } from './start-sandbox-upstream.ts'

const upstream = await startSandboxUpstream()
after(() => upstream.close())
const client = new OpenAI({ baseURL: upstream.baseUrl, apiKey: 'any', maxRetries: 0 })

const prompt = 'Uma catraca ao pôr do sol'

interface ImageBody {
  readonly created: number
  readonly data: { readonly b64_json?: string; readonly url?: string }[]
  readonly usage: { readonly output_tokens: number }
}

function post(body: object): Promise<Response> {
  const text = JSON.stringify({ model: 'sandbox-image', prompt, ...body })
  return fetch(`${upstream.baseUrl}/images/generations`, { method: 'POST', body: text })
}

async function generate(body: object = {}): Promise<ImageBody> {
  const response = await post(body)
  assert.equal(response.status, 200)
  return (await response.json()) as ImageBody
}

async function generatePngs(body: object = {}): Promise<Buffer[]> {
  const { data } = await generate(body)
  return data.map((one) => Buffer.from(one.b64_json ?? '', 'base64'))
}

interface Picture {
  readonly width: number
  readonly height: number
  /** Three bytes per pixel, line by line. */
  readonly pixels: Buffer
}

/** Decodes the part of the format (ISO/IEC 15948) that the sandbox uses, and verifies the checksums. */
function decodePng(png: Buffer): Picture {
  assert.equal(png.toString('latin1', 0, 8), '\x89PNG\r\n\x1a\n')
  const chunks: [string, Buffer][] = []
  for (let offset = 8; offset < png.length;) {
    const length = png.readUInt32BE(offset)
    const body = png.subarray(offset + 4, offset + 8 + length)
    assert.equal(png.readUInt32BE(offset + 8 + length), crc32(body))
    chunks.push([body.toString('latin1', 0, 4), body.subarray(4)])
    offset += 12 + length
  }
  assert.deepEqual(
    chunks.map(([type]) => type),
    ['IHDR', 'IDAT', 'IEND'],
  )
  const [header, data] = chunks.map(([, body]) => body) as [Buffer, Buffer]
  assert.deepEqual([...header.subarray(8)], [8, 2, 0, 0, 0])
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  return { width, height, pixels: unfilter(inflateSync(data), width, height) }
}

function unfilter(lines: Buffer, width: number, height: number): Buffer {
  const lineBytes = width * 3
  assert.equal(lines.length, height * (1 + lineBytes))
  const pixels = Buffer.alloc(height * lineBytes)
  for (let y = 0; y < height; y++) {
    const filter = lines[y * (1 + lineBytes)]
    assert.ok(filter === 0 || filter === 2, `filter ${filter}`)
    const start = y * lineBytes
    lines.copy(pixels, start, start + y + 1, start + y + 1 + lineBytes)
    if (filter === 0 || y === 0) continue
    for (let at = start; at < start + lineBytes; at++)
      pixels[at] = (pixels[at] as number) + (pixels[at - lineBytes] as number)
  }
  return pixels
}

/** The largest difference between adjacent pixels. */
function findLargestStep({ width, height, pixels }: Picture): number {
  let largest = 0
  for (let y = 1; y < height; y++) {
    for (let x = 3; x < width * 3; x++) {
      const here = pixels[y * width * 3 + x] as number
      const left = pixels[y * width * 3 + x - 3] as number
      const above = pixels[(y - 1) * width * 3 + x] as number
      largest = Math.max(largest, Math.abs(here - left), Math.abs(here - above))
    }
  }
  return largest
}

describe('an image', () => {
  test('comes with every field of the format, and no other', async () => {
    const response = await post({ quality: 'low' })
    assert.equal(response.headers.get('openai-organization'), 'org-sandbox')
    const { created, data, ...rest } = (await response.json()) as ImageBody
    assert.ok(Math.abs(created - Date.now() / 1000) < 5)
    assert.deepEqual(data.map(Object.keys), [['b64_json']])
    const inputTokens = countTokens(prompt)
    assert.deepEqual(rest, {
      background: 'opaque',
      output_format: 'png',
      quality: 'low',
      size: '1024x1024',
      usage: {
        input_tokens: inputTokens,
        output_tokens: 272,
        total_tokens: inputTokens + 272,
        input_tokens_details: { text_tokens: inputTokens, image_tokens: 0 },
      },
    })
  })

  test('is a PNG of exactly the requested size with a smooth gradient', async () => {
    for (const [width, height] of [
      [1024, 1024],
      [1536, 1024],
      [16, 4096],
      [17, 999],
    ] as const) {
      const [png = Buffer.alloc(0)] = await generatePngs({ size: `${width}x${height}` })
      const picture = decodePng(png)
      assert.deepEqual([picture.width, picture.height], [width, height])
      assert.ok(findLargestStep(picture) <= 8)
      assert.notDeepEqual(picture.pixels.subarray(0, 3), picture.pixels.subarray(-3))
    }
  })

  test('of the largest size is drawn completely', async () => {
    const [png = Buffer.alloc(0)] = await generatePngs({ size: '4096x4096' })
    assert.equal(decodePng(png).pixels.length, 4096 * 4096 * 3)
  })

  test('is the same for the same prompt, differs for another, and n images differ from each other', async () => {
    const size = '64x64'
    const [one] = await generatePngs({ size })
    const three = await generatePngs({ size, n: 3, model: 'acme/any' })
    assert.equal(three.length, 3)
    assert.deepEqual(three[0], one)
    assert.equal(new Set(three.map((png) => png.toString('hex'))).size, 3)
    const [other] = await generatePngs({ size, prompt: 'Outra coisa' })
    assert.notDeepEqual(other, one)
  })

  test('a picture of a Gemini model has the tokens of its maker, whatever the quality', async () => {
    for (const quality of [undefined, 'low', 'high'])
      assert.equal(
        (await generate({ model: 'gemini-2.5-flash-image', quality })).usage.output_tokens,
        1_290,
      )
  })

  test('costs tokens by quality, size and number of images', async () => {
    const outputTokens = async (body: object) => (await generate(body)).usage.output_tokens
    assert.equal(await outputTokens({}), 4160)
    assert.equal(await outputTokens({ quality: 'auto', size: 'auto' }), 4160)
    assert.equal(await outputTokens({ quality: 'high' }), 4160)
    assert.equal(await outputTokens({ quality: 'medium' }), 1056)
    assert.equal(await outputTokens({ quality: 'low', size: '1024x1536' }), 408)
    assert.equal(await outputTokens({ quality: 'medium', size: '512x512' }), 264)
    assert.equal(await outputTokens({ quality: 'low', size: '16x16' }), 1)
    assert.equal(await outputTokens({ quality: 'low', n: 10, size: '512x512' }), 680)
  })

  test('requested as an address is served there without a key any number of times', async (context) => {
    const guarded = await startSandboxUpstream({ apiKey: 'sk-right' })
    context.after(() => guarded.close())
    const own = new OpenAI({ baseURL: guarded.baseUrl, apiKey: 'sk-right', maxRetries: 0 })
    const request = { model: 'sandbox-image', prompt, size: '128x64' as '1024x1024', n: 2 }
    const { data: inline = [] } = await own.images.generate(request)
    const { data = [] } = await own.images.generate({ ...request, response_format: 'url' })
    assert.equal(data.length, 2)
    for (const [index, { url = '', b64_json: none }] of data.entries()) {
      assert.equal(none, undefined)
      assert.equal(new URL(url).origin, new URL(guarded.baseUrl).origin)
      for (let turn = 0; turn < 2; turn++) {
        const response = await fetch(url)
        assert.equal(response.headers.get('content-type'), 'image/png')
        const png = Buffer.from(await response.arrayBuffer())
        assert.equal(png.toString('base64'), inline[index]?.b64_json)
      }
    }
    assert.equal(guarded.counts.requests, 2)
  })

  test('that is impossible answers 404', async () => {
    const { origin } = new URL(upstream.baseUrl)
    const colours = '0'.repeat(24)
    for (const path of [`15x16/${colours}`, `16x4097/${colours}`, `16x16/${colours}0`, '16x16/x']) {
      assert.equal((await fetch(`${origin}/images/${path}.png`)).status, 404, path)
    }
    assert.equal((await fetch(`${origin}/images/16x16/${colours}.png`)).status, 200)
  })

  test('reaches the official client', async () => {
    const answer = await client.images.generate({ model: 'sandbox-image', prompt, quality: 'low' })
    assert.equal(answer.usage?.output_tokens, 272)
    assert.equal(decodePng(Buffer.from(answer.data?.[0]?.b64_json ?? '', 'base64')).width, 1024)
  })

  test('from sandbox-overrun reports far more usage than the true one', async () => {
    const { usage } = await generate({ model: 'sandbox-overrun', size: '1024x1024' })
    assert.equal(usage.output_tokens, 42_600)
  })
})

describe('a bad image request', () => {
  const faults: [string, object, string, string][] = [
    ['no prompt', { prompt: undefined }, 'prompt', 'missing_required_parameter'],
    ['an empty prompt', { prompt: '' }, 'prompt', 'empty_string'],
    ['a prompt that is not a string', { prompt: 1 }, 'prompt', 'invalid_type'],
    ['32,001 characters', { prompt: 'a'.repeat(32_001) }, 'prompt', 'string_above_max_length'],
    ['n 0', { n: 0 }, 'n', 'integer_below_min_value'],
    ['n 11', { n: 11 }, 'n', 'integer_above_max_value'],
    ['a size without sides', { size: 'big' }, 'size', 'invalid_value'],
    ['a side of 15', { size: '15x1024' }, 'size', 'invalid_value'],
    ['a side of 4097', { size: '1024x4097' }, 'size', 'invalid_value'],
    ['a size as a number', { size: 1024 }, 'size', 'invalid_type'],
    ['an unknown quality', { quality: 'hd' }, 'quality', 'invalid_value'],
    ['an unknown format', { response_format: 'file' }, 'response_format', 'invalid_value'],
    ['another output than PNG', { output_format: 'webp' }, 'output_format', 'invalid_value'],
    ['a stream', { stream: true }, 'stream', 'unsupported_value'],
    ['no model', { model: undefined }, 'model', 'missing_required_parameter'],
  ]
  for (const [what, fault, param, code] of faults) {
    test(`(${what}) gets 400 in OpenAI's shape, naming the field`, async () => {
      const response = await post(fault)
      assert.equal(response.status, 400)
      const { error } = (await response.json()) as { error: Record<string, unknown> }
      assert.deepEqual(Object.keys(error), ['message', 'type', 'param', 'code'])
      assert.deepEqual(
        [error.type, error.param, error.code],
        ['invalid_request_error', param, code],
      )
    })
  }

  test('counts as refused, and a good one adds its tokens', async (context) => {
    const own = await startSandboxUpstream()
    context.after(() => own.close())
    for (const n of [2, 0]) {
      const body = JSON.stringify({ model: 'm', prompt, n, size: '512x512', quality: 'low' })
      await (await fetch(`${own.baseUrl}/images/generations`, { method: 'POST', body })).text()
    }
    const { calls, ...sums } = own.counts
    assert.equal(calls.size, 0)
    assert.deepEqual(sums, {
      requests: 2,
      completed: 1,
      refused: 1,
      broken: 0,
      aborted: 0,
      promptTokens: countTokens(prompt),
      completionTokens: 136,
      webSearches: 0,
    })
  })
})
