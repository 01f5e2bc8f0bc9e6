/** Image generation against a server with the published format, which also serves the images. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { after, beforeEach, test } from 'node:test'
import type { ImageAnswer, ImageCall, JsonObject, UpstreamFailure } from '../contract.ts'
import { createGenerateImages } from './generate-images.ts'
import { openUpstream } from './upstream.ts'
import { startOpenAiUpstream } from '../../../../test/harness/openai-upstream.ts'

const upstream = await startOpenAiUpstream()
after(() => upstream.close())
beforeEach(() => {
  upstream.asked.length = 0
})

const PIXEL = Buffer.from([0x89, 0x50, 0x4e, 0x47])
const BASE64 = 'iVBORw=='

function callOf(model: string, more: JsonObject = {}, count = 2): ImageCall {
  const body = { model, prompt: 'a turnstile', n: count, ...more }
  return {
    body,
    prompt: 'a turnstile',
    count,
    size: undefined,
    outputTokensMax: undefined,
    callId: 'call-1',
  }
}

async function generate(
  call: ImageCall = callOf('dall-e-3'),
  { provider = upstream.provider, signal = new AbortController().signal } = {},
): Promise<ImageAnswer | UpstreamFailure> {
  return provider.generateImages(call, signal)
}

async function sentFor(call: ImageCall): Promise<unknown> {
  upstream.asked.length = 0
  upstream.answerJson({ created: 1, data: [{ b64_json: BASE64 }] })
  assert.equal((await generate(call)).kind, 'images')
  return JSON.parse(String(upstream.asked[0]?.body))
}

async function usageFor(usage: unknown): Promise<unknown> {
  upstream.answerJson({ created: 1, data: [{ b64_json: BASE64 }], usage })
  const answer = await generate()
  return answer.kind === 'images' ? answer.usage : assert.fail(answer.detail)
}

/** Answers with the addresses of images at these paths of the same server, and serves them. */
function answerUrls(files: Record<string, Buffer | number>): void {
  upstream.answerWith((request, response) => {
    const file = files[request.url as string]
    if (file === undefined) {
      const data = Object.keys(files).map((path) => ({ url: upstream.origin + path }))
      response.end(JSON.stringify({ data }))
    } else if (typeof file === 'number') response.writeHead(file).end('no image')
    else response.writeHead(200, { 'content-type': 'image/png' }).end(file)
  })
}

test('images are returned as bytes, with the revised prompt', async () => {
  upstream.answerJson({
    created: 1,
    data: [{ b64_json: BASE64, revised_prompt: 'a red turnstile' }, { b64_json: 'AAAA' }],
  })
  assert.deepEqual(await generate(), {
    kind: 'images',
    images: [{ base64: BASE64, revisedPrompt: 'a red turnstile' }, { base64: 'AAAA' }],
    usage: undefined,
  })
  assert.equal(upstream.asked[0]?.url, '/v1/images/generations')
  assert.equal(upstream.asked[0]?.headers['x-catraca-call-id'], 'call-1')
})

test('bytes in a plain answer are requested from models that accept the parameter', async () => {
  const wanted = { prompt: 'a turnstile', n: 2, size: '1024x1024' }
  const given = { size: '1024x1024', response_format: 'url', stream: true }
  for (const model of ['dall-e-2', 'dall-e-3', 'grok-2-image', 'flux/my-gpt-image']) {
    assert.deepEqual(await sentFor(callOf(model, given)), {
      model,
      ...wanted,
      response_format: 'b64_json',
    })
  }
  for (const model of [
    'gpt-image-1',
    'gpt-image-1-mini',
    'chatgpt-image-1',
    'openai/gpt-image-1',
  ]) {
    assert.deepEqual(await sentFor(callOf(model, given)), { model, ...wanted })
  }
})

test('usage separates image tokens', async () => {
  const usage = {
    total_tokens: 4310,
    input_tokens: 150,
    output_tokens: 4160,
    input_tokens_details: { text_tokens: 50, image_tokens: 100 },
    output_tokens_details: { text_tokens: 60, image_tokens: 4100 },
  }
  const used = {
    promptTokens: 150,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    completionTokens: 4160,
    reasoningTokens: 0,
    imageInputTokens: 100,
    imageOutputTokens: 4100,
  }
  assert.deepEqual(await usageFor(usage), used)
  const { output_tokens_details: _details, ...undetailed } = usage
  assert.deepEqual(await usageFor(undetailed), { ...used, imageOutputTokens: 4160 })
  const textOnly = { ...usage, output_tokens_details: { text_tokens: 60 } }
  assert.deepEqual(await usageFor(textOnly), { ...used, imageOutputTokens: 4100 })
  const bare = { input_tokens: 150, output_tokens: 4160 }
  assert.deepEqual(await usageFor(bare), {
    ...used,
    imageInputTokens: 0,
    imageOutputTokens: 4160,
  })
})

test('implausible usage is unknown, and no kind of token exceeds the total', async () => {
  for (const usage of [
    null,
    'much',
    [],
    { input_tokens: 1 },
    { output_tokens: 1 },
    { input_tokens: -1, output_tokens: 1 },
    { input_tokens: 1, output_tokens: 1e12 },
    { input_tokens: 1.5, output_tokens: 1 },
    { cost_in_usd_ticks: 200_000_000 },
  ]) {
    assert.equal(await usageFor(usage), undefined, JSON.stringify(usage))
  }
  const greedy = {
    input_tokens: 10,
    output_tokens: 20,
    input_tokens_details: { image_tokens: 11 },
    output_tokens_details: { image_tokens: 21, text_tokens: -1 },
  }
  const used = (await usageFor(greedy)) as JsonObject
  assert.equal(used.imageInputTokens, 10)
  assert.equal(used.imageOutputTokens, 20)
})

test('fewer images than requested are accepted, surplus ones dropped, and none is a bad answer', async () => {
  upstream.answerJson({
    data: [null, {}, { b64_json: '' }, { b64_json: null, url: '' }, { b64_json: BASE64 }],
  })
  const fewer = await generate()
  assert.deepEqual(fewer.kind === 'images' && fewer.images, [{ base64: BASE64 }])

  upstream.answerJson({ data: ['AAAA', 'BBBB', 'CCCC'].map((b64_json) => ({ b64_json })) })
  const more = await generate()
  assert.deepEqual(more.kind === 'images' && more.images, [{ base64: 'AAAA' }, { base64: 'BBBB' }])

  for (const body of ['', '<html>', '[]', '{}', '{"data":null}', '{"data":[]}', '{"data":[{}]}']) {
    upstream.answerJson(body)
    const none = await generate()
    assert.equal(none.kind === 'failure' && none.reason, 'bad_answer', body)
  }
})

test('images given by address are fetched', async () => {
  answerUrls({ '/img/1?sig=s3cret': PIXEL, '/img/2': Buffer.from('two') })
  const answer = await generate()
  assert.deepEqual(answer.kind === 'images' && answer.images, [
    { base64: BASE64 },
    { base64: 'dHdv' },
  ])
})

test('bytes are preferred to an address, and one answer may have both kinds', async () => {
  upstream.answerWith((request, response) => {
    if (request.url === '/img') return response.end(PIXEL)
    const data = [
      { b64_json: 'AAAA', url: 'http://0.0.0.0/never' },
      { url: `${upstream.origin}/img` },
    ]
    return response.end(JSON.stringify({ data }))
  })
  const answer = await generate()
  assert.deepEqual(answer.kind === 'images' && answer.images, [
    { base64: 'AAAA' },
    { base64: BASE64 },
  ])
})

test('an image that cannot be fetched is a bad answer, whose detail has no secret of its address', async () => {
  for (const gone of [404, 500, Buffer.alloc(0)]) {
    answerUrls({ '/img/1': PIXEL, '/img/2?sig=s3cret': gone })
    const answer = await generate()
    assert.equal(answer.kind === 'failure' && answer.reason, 'bad_answer')
    assert.doesNotMatch(JSON.stringify(answer), /s3cret/)
  }
  upstream.answerWith((request, response) => {
    const data = [{ url: `${upstream.origin}/img` }]
    if (request.url !== '/img') response.end(JSON.stringify({ data }))
    else response.writeHead(200, { 'content-type': 'text/html' }).end('<html>expired</html>')
  })
  assert.deepEqual(await generate(), {
    kind: 'failure',
    reason: 'bad_answer',
    detail: 'an image could not be fetched: 200, 20 bytes of text/html',
  })
  for (const url of ['file:///etc/s3cret', 's3cret', 'http://127.0.0.1:1/s3cret']) {
    upstream.answerJson({ data: [{ url }] })
    const answer = await generate()
    assert.equal(answer.kind === 'failure' && answer.reason, 'bad_answer', url)
    assert.doesNotMatch(JSON.stringify(answer), /s3cret/)
  }
})

test('an image that is too large is rejected', async () => {
  answerUrls({ '/img/1': Buffer.alloc(50 * 1024 * 1024 + 1) })
  const answer = await generate()
  assert.deepEqual(answer, {
    kind: 'failure',
    reason: 'bad_answer',
    detail: 'an image could not be fetched: too_large, more than 52428800 bytes',
  })
})

test('the bytes of fetched images are counted as they arrive, and end the call where there is no room', async () => {
  const image = Buffer.alloc(300_000, PIXEL)
  const base64Bytes = image.toString('base64').length
  answerUrls({ '/img/1': image, '/img/2': image })
  let taken = 0
  const room = (bytesMax: number): ImageCall => ({
    ...callOf('dall-e-3'),
    takeBytes: (bytes) => (taken += bytes) <= bytesMax,
  })
  assert.equal((await generate(room(3 * base64Bytes))).kind, 'images')
  assert.ok(taken >= 2 * base64Bytes, `${taken} of ${2 * base64Bytes}`)
  taken = 0
  assert.deepEqual(await generate(room(base64Bytes)), {
    kind: 'failure',
    reason: 'no_room',
    detail: 'the answer does not fit into the memory',
    // The upstream has worked.
    isFinal: true,
  })
})

test('the bytes of an answer are counted as they arrive, and end the call where there is no room', async () => {
  const data = Array.from({ length: 2 }, () => ({ b64_json: BASE64.repeat(100_000) }))
  const bytes = JSON.stringify({ data }).length
  upstream.answerJson({ data })
  let taken = 0
  const room = (bytesMax: number): ImageCall => ({
    ...callOf('dall-e-3'),
    takeBytes: (some) => (taken += some) <= bytesMax,
  })
  assert.equal((await generate(room(bytes))).kind, 'images')
  assert.equal(taken, bytes)
  taken = 0
  assert.deepEqual(await generate(room(100_000)), {
    kind: 'failure',
    reason: 'no_room',
    detail: 'the answer does not fit into the memory',
    isFinal: true,
  })
  assert.ok(taken < bytes, 'the rest is not read')
})

test('a public upstream cannot make us fetch from a private network', async () => {
  let connections = 0
  const inside = createServer(() => connections++).listen(0, '127.0.0.1')
  await once(inside, 'listening')
  const { port } = inside.address() as AddressInfo
  const opened = openUpstream({
    baseUrl: upstream.origin,
    apiKey: undefined,
    connectTimeoutMs: 2_000,
    firstByteTimeoutMs: 10_000,
    idleTimeoutMs: 10_000,
    connectionsMax: 1,
  })
  const generateImages = createGenerateImages({ ...opened, hostname: '1.1.1.1' })
  upstream.answerJson({ data: [{ url: `http://127.0.0.1:${port}/` }] })
  assert.deepEqual(await generateImages(callOf('dall-e-3'), new AbortController().signal), {
    kind: 'failure',
    reason: 'bad_answer',
    detail: `an image could not be fetched: refused_address, 127.0.0.1:${port} is not a public address`,
  })
  assert.equal(connections, 0)
  inside.close()
  await opened.close()
})

test('a refusal has its status and its retry time', async () => {
  upstream.answerJson('{"error":{"code":"moderation_blocked"}}', 400)
  assert.deepEqual(await generate(), {
    kind: 'failure',
    reason: 'refused_request',
    status: 400,
    requestFault: 'content_refused',
    detail: '400: moderation_blocked',
  })
  upstream.answerJson('', 429, { 'retry-after': '20' })
  assert.deepEqual(await generate(), {
    kind: 'failure',
    reason: 'rate_limited',
    status: 429,
    retryAfterSeconds: 20,
    detail: '429',
  })
})

test('a broken connection is lost, and an answer that does not begin times out', async () => {
  upstream.answerWith((_request, response) => {
    response.writeHead(200, { 'content-length': 100 })
    response.write('{"data":[{"b64_json":"', () => response.destroy())
  })
  const cut = await generate()
  assert.equal(cut.kind === 'failure' && cut.reason, 'connection_lost')

  upstream.answerWith(() => {})
  const provider = upstream.open({ firstByteTimeoutMs: 50 })
  const late = await generate(callOf('dall-e-3'), { provider })
  assert.equal(late.kind === 'failure' && late.reason, 'first_byte_timeout')
})

test('an abort ends the call while the model works, and while an image is fetched', async () => {
  for (const held of ['/v1/images/generations', '/img']) {
    const leaving = new AbortController()
    upstream.answerWith((request, response) => {
      if (request.url === held) setImmediate(() => leaving.abort())
      else response.end(JSON.stringify({ data: [{ url: `${upstream.origin}/img` }] }))
    })
    const answer = await generate(callOf('dall-e-3'), { signal: leaving.signal })
    assert.equal(answer.kind === 'failure' && answer.reason, 'aborted')
  }
})
