/** Images by Gemini, through the Gemini API and through Vertex. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { after, beforeEach, test } from 'node:test'
import type { AiSdkOptions } from '../../src/gateway/providers/ai-sdk/ai-sdk-options.ts'
import type {
  ImageAnswer,
  Provider,
  UpstreamFailure,
} from '../../src/gateway/providers/contract.ts'
import { answerJson, startScriptedServer, type Received } from './scripted-server.ts'
import { openAiSdk } from './test-provider.ts'
import { IMAGE_BASE64 } from './weather-conversation.ts'

type Answer = (received: Received, response: ServerResponse) => void

let answer: Answer
const server = await startScriptedServer((received, response) => answer(received, response))
after(() => server.close())
beforeEach(() => {
  server.received.length = 0
})

const VERTEX_PATH = '/v1/projects/own/locations/us-central1/publishers/google'

function open(kind: AiSdkOptions['kind'], options: Partial<AiSdkOptions> = {}): Provider {
  return openAiSdk(kind, {
    baseUrl: server.url + (kind === 'google-vertex' ? VERTEX_PATH : '/v1beta'),
    apiKey: 'own-key',
    vertex: { project: 'own', location: 'us-central1' },
    bedrock: { region: 'us-east-1' },
    ...options,
  })
}

interface Asked {
  readonly count?: number
  readonly size?: string
  readonly takeBytes?: (bytes: number) => boolean
  readonly signal?: AbortSignal
}

async function generate(
  kind: AiSdkOptions['kind'],
  { count = 1, size, signal = new AbortController().signal, takeBytes }: Asked = {},
  options: Partial<AiSdkOptions> = {},
): Promise<ImageAnswer | UpstreamFailure> {
  const provider = open(kind, options)
  const body = { model: 'gemini-2.5-flash-image', prompt: 'A cat.', n: count, quality: 'high' }
  const asked = { body, prompt: 'A cat.', count, size, outputTokensMax: 2_314 }
  const call = { ...asked, callId: 'call-1', takeBytes }
  const outcome = await provider.generateImages?.(call, signal)
  assert.ok(outcome)
  await provider.close()
  return outcome
}

function fixtureText(path: string): string {
  return readFileSync(join(import.meta.dirname, './fixtures', `${path}.json`), 'utf8')
}

/** The first request gets the first answer, and so on. */
function play(...answers: (string | Answer)[]): Answer {
  const left = [...answers]
  return (received, response) => {
    const next = left.shift()
    if (typeof next === 'function') next(received, response)
    else answerJson(response, 200, fixtureText(next ?? 'google/image'))
  }
}

const fail =
  (status: number): Answer =>
  (_received, response) =>
    answerJson(response, status, { error: { code: status, message: 'No.', status: 'X' } })

function usedOf(images: number): unknown {
  return {
    promptTokens: 12 * images,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    completionTokens: 1290 * images,
    reasoningTokens: 0,
    imageOutputTokens: 1290 * images,
  }
}

test('only google and google-vertex make images', async () => {
  for (const kind of ['anthropic', 'amazon-bedrock', 'cohere'] as const) {
    const provider = open(kind)
    assert.equal('generateImages' in provider, false, kind)
    await provider.close()
  }
})

for (const [kind, path] of [
  ['google', '/v1beta'],
  ['google-vertex', VERTEX_PATH],
] as const) {
  test(`${kind}: an image arrives as bytes, and its tokens are counted separately`, async () => {
    answer = play(`${kind}/image`)
    assert.deepEqual(await generate(kind), {
      kind: 'images',
      images: [{ base64: IMAGE_BASE64 }],
      usage: usedOf(1),
    })
    const [request] = server.received
    assert.equal(request?.path, `${path}/models/gemini-2.5-flash-image:generateContent`)
    assert.equal(request?.headers['x-goog-api-key'], 'own-key')
    assert.equal(request?.headers['x-catraca-call-id'], 'call-1')
    assert.deepEqual(JSON.parse(request?.text ?? ''), {
      generationConfig: { maxOutputTokens: 2_314, responseModalities: ['IMAGE'] },
      contents: [{ role: 'user', parts: [{ text: 'A cat.' }] }],
    })
  })
}

test('several images are requested in parallel, and their usage is the sum', async () => {
  const waiting: ServerResponse[] = []
  answer = (_received, response) => {
    waiting.push(response)
    if (waiting.length < 3) return
    for (const one of waiting) answerJson(one, 200, fixtureText('google/image'))
  }
  assert.deepEqual(await generate('google', { count: 3 }), {
    kind: 'images',
    images: Array.from({ length: 3 }, () => ({ base64: IMAGE_BASE64 })),
    usage: usedOf(3),
  })
})

test('images are counted in the memory for the call, and one without room ends it', async () => {
  const bytes = Buffer.byteLength(fixtureText('google/image'))
  let taken = 0
  const takeBytes = (some: number): boolean => (taken += some) <= 2 * bytes
  answer = play()
  assert.equal((await generate('google', { count: 2, takeBytes })).kind, 'images')
  assert.equal(taken, 2 * bytes)
  taken = 0
  const { kind, ...failure } = await generate('google', { count: 3, takeBytes })
  assert.equal(kind, 'failure')
  assert.deepEqual(failure, {
    reason: 'no_room',
    detail: 'the answer does not fit into the memory',
    isFinal: true,
  })
})

test('drafts and text are not delivered as images, and are billed as thoughts and text', async () => {
  answer = play('google/image-with-thoughts')
  assert.deepEqual(await generate('google'), {
    kind: 'images',
    images: [{ base64: '/9j/4AAQ' }],
    usage: {
      promptTokens: 12,
      cachedTokens: 0,
      cacheWriteTokens: 0,
      completionTokens: 1447,
      reasoningTokens: 150,
      imageOutputTokens: 1290,
    },
  })
})

test('output without a breakdown counts as image tokens, except for its thoughts', async () => {
  const { candidates } = JSON.parse(fixtureText('google/image'))
  const usageMetadata = {
    promptTokenCount: 12,
    candidatesTokenCount: 1290,
    thoughtsTokenCount: 150,
    totalTokenCount: 1452,
  }
  answer = (_received, response) => answerJson(response, 200, { candidates, usageMetadata })
  const outcome = await generate('google')
  assert.deepEqual(outcome.kind === 'images' && outcome.usage, {
    promptTokens: 12,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    completionTokens: 1440,
    reasoningTokens: 150,
    imageOutputTokens: 1290,
  })
})

test('usage is unknown when one image reports none', async () => {
  const { candidates } = JSON.parse(fixtureText('google/image'))
  answer = play('google/image', (_received, response) => answerJson(response, 200, { candidates }))
  const outcome = await generate('google', { count: 2 })
  assert.equal(outcome.kind === 'images' && outcome.images.length, 2)
  assert.equal(outcome.kind === 'images' && outcome.usage, undefined)
})

for (const [size, imageConfig] of [
  ['1024x1024', { aspectRatio: '1:1' }],
  ['1024x1536', { aspectRatio: '2:3' }],
  ['1792x1024', { aspectRatio: '16:9' }],
  ['768x1344', { aspectRatio: '9:16' }],
  ['896x1152', { aspectRatio: '4:5' }],
  ['1184x864', { aspectRatio: '4:3' }],
  ['1536x672', { aspectRatio: '21:9' }],
  ['512x512', { aspectRatio: '1:1', imageSize: '512' }],
  ['2048x2048', { aspectRatio: '1:1', imageSize: '2K' }],
  ['5504x3072', { aspectRatio: '16:9', imageSize: '4K' }],
] as const) {
  test(`${size} is requested as ${Object.values(imageConfig).join(', ')}`, async () => {
    answer = play('google/image')
    const outcome = await generate('google', { size })
    assert.equal(outcome.kind, 'images')
    assert.deepEqual(
      JSON.parse(server.received[0]?.text ?? '').generationConfig.imageConfig,
      imageConfig,
    )
  })
}

test('an unsupported image option is refused before any request', async () => {
  assert.deepEqual(await generate('google', { size: '4096x512' }), {
    kind: 'failure',
    reason: 'unsupported',
    detail: 'this upstream has no images of this shape',
  })
  assert.equal(server.received.length, 0)
})

for (const [fixture, word] of [
  ['image-blocked', 'IMAGE_SAFETY'],
  ['image-prompt-blocked', 'PROHIBITED_CONTENT'],
] as const) {
  test(`${word}: a blocked image is a refused request`, async () => {
    answer = play(`google/${fixture}`, `google/${fixture}`)
    assert.deepEqual(await generate('google', { count: 2 }), {
      kind: 'failure',
      reason: 'refused_request',
      detail: `the model gave no image: ${word}`,
    })
  })
}

for (const [finishReason, reason] of [
  ['NO_IMAGE', 'refused_request'],
  ['IMAGE_PROHIBITED_CONTENT', 'refused_request'],
  ['STOP', 'refused_request'],
  ['IMAGE_OTHER', 'bad_answer'],
  ['MAX_TOKENS', 'bad_answer'],
] as const) {
  test(`text instead of an image, ended by ${finishReason}, is ${reason}`, async () => {
    answer = (_received, response) =>
      answerJson(response, 200, {
        candidates: [{ content: { parts: [{ text: 'I cannot.' }] }, finishReason }],
      })
    const outcome = await generate('google')
    assert.deepEqual(outcome, {
      kind: 'failure',
      reason,
      detail: `the model gave no image: ${finishReason}`,
    })
  })
}

test('when only some images arrive, they are delivered and the known usage is billed', async () => {
  answer = play('google/image', fail(503), 'google/image-blocked', 'google/image')
  assert.deepEqual(await generate('google', { count: 4 }), {
    kind: 'images',
    images: [{ base64: IMAGE_BASE64 }, { base64: IMAGE_BASE64 }],
    usage: {
      promptTokens: 36,
      cachedTokens: 0,
      cacheWriteTokens: 0,
      completionTokens: 2580,
      reasoningTokens: 0,
      imageOutputTokens: 2580,
    },
  })
})

for (const [status, reason] of [
  [400, 'refused_request'],
  [403, 'credentials_refused'],
  [429, 'rate_limited'],
  [500, 'server_error'],
] as const) {
  test(`when every image fails with ${status}, the call fails with ${reason}`, async () => {
    answer = (received, response) => fail(status)(received, response)
    assert.deepEqual(await generate('google', { count: 2 }), {
      kind: 'failure',
      reason,
      status,
      detail: String(status),
    })
  })
}

test('truncated JSON is bad_answer', async () => {
  answer = (_received, response) =>
    answerJson(response, 200, fixtureText('google/image').slice(0, 200))
  const outcome = await generate('google')
  assert.equal(outcome.kind === 'failure' && outcome.reason, 'bad_answer')
})

test('an answer that does not start in time is first_byte_timeout', async () => {
  answer = () => {}
  const outcome = await generate('google', {}, { firstByteTimeoutMs: 200 })
  assert.equal(outcome.kind === 'failure' && outcome.reason, 'first_byte_timeout')
})

test('an abort by the caller aborts every request upstream', async () => {
  const caller = new AbortController()
  answer = () => {
    if (server.received.length === 2) caller.abort(new Error('the customer has left'))
  }
  const outcome = await generate('google', { count: 2, signal: caller.signal })
  assert.equal(outcome.kind === 'failure' && outcome.reason, 'aborted')
  await Promise.all(server.received.map(({ gone }) => gone))
})
