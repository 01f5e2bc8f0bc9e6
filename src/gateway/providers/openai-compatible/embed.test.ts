/** Embeddings against a server with the published format, including its failures. */
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import type { EmbeddingAnswer, EmbeddingCall, UpstreamFailure } from '../contract.ts'
import { startOpenAiUpstream } from '../../../../test/harness/openai-upstream.ts'

const upstream = await startOpenAiUpstream()
after(() => upstream.close())
beforeEach(() => {
  upstream.asked.length = 0
})

const USAGE = { prompt_tokens: 8, total_tokens: 8 }
const USED = {
  promptTokens: 8,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
}

function callOf(...inputs: string[]): EmbeddingCall {
  const body = { model: 'text-embedding-3-small', input: inputs, encoding_format: 'float' }
  return { body, inputs, dimensions: undefined, callId: 'call-1' }
}

async function embed(
  call: EmbeddingCall = callOf('a', 'b'),
  { provider = upstream.provider, signal = new AbortController().signal } = {},
): Promise<EmbeddingAnswer | UpstreamFailure> {
  return provider.embed(call, signal)
}

function answerVectors(data: unknown, usage: unknown = USAGE): void {
  upstream.answerJson({ object: 'list', model: 'text-embedding-3-small', data, usage })
}

async function reasonOf(answer: Promise<EmbeddingAnswer | UpstreamFailure>): Promise<string> {
  const outcome = await answer
  return outcome.kind === 'failure' ? outcome.reason : assert.fail('it was an answer')
}

test('a call is sent unchanged, with its key and id, and its vectors are returned', async () => {
  answerVectors([
    { object: 'embedding', index: 0, embedding: [0.25, -1] },
    { object: 'embedding', index: 1, embedding: [1e-7, 3] },
  ])
  assert.deepEqual(await embed(), {
    kind: 'embeddings',
    vectors: [
      [0.25, -1],
      [1e-7, 3],
    ],
    usage: USED,
  })
  const [asked] = upstream.asked
  assert.equal(asked?.method, 'POST')
  assert.equal(asked?.url, '/v1/embeddings')
  assert.equal(asked?.headers.authorization, 'Bearer sk-test')
  assert.equal(asked?.headers['content-type'], 'application/json')
  assert.equal(asked?.headers['x-catraca-call-id'], 'call-1')
  assert.deepEqual(JSON.parse(String(asked?.body)), callOf('a', 'b').body)
})

test('vectors in base64 are returned unchanged', async () => {
  const embedding = Buffer.from(new Float32Array([0.5, -2]).buffer).toString('base64')
  answerVectors([{ index: 0, embedding }])
  const answer = await embed(callOf('a'))
  assert.deepEqual(answer, { kind: 'embeddings', vectors: [embedding], usage: USED })
})

test('vectors are sorted by index, in whatever order they arrive', async () => {
  answerVectors([
    { index: 2, embedding: [2] },
    { index: 0, embedding: [0] },
    { index: 1, embedding: [1] },
  ])
  const answer = await embed(callOf('a', 'b', 'c'))
  assert.deepEqual(answer.kind === 'embeddings' && answer.vectors, [[0], [1], [2]])
})

test('an index of zero, or all indexes, may be omitted', async () => {
  answerVectors([{ index: 1, embedding: [1] }, { embedding: [0] }])
  const first = await embed()
  assert.deepEqual(first.kind === 'embeddings' && first.vectors, [[0], [1]])
  answerVectors([{ embedding: [0] }, { embedding: [1] }])
  const none = await embed()
  assert.deepEqual(none.kind === 'embeddings' && none.vectors, [[0], [1]])
})

test('a doubtful order is a bad answer', async () => {
  for (const [a, b] of [
    [1, 1],
    [1, 2],
    [0, 2],
    [-1, 0],
    [0, 0.5],
    [0, '1'],
    [0, 'x'],
  ]) {
    answerVectors([
      { index: a, embedding: [0] },
      { index: b, embedding: [1] },
    ])
    assert.equal(await reasonOf(embed()), 'bad_answer', `${a}, ${b}`)
  }
})

test('fewer or more vectors than inputs are a bad answer', async () => {
  for (const count of [0, 1, 3]) {
    answerVectors(Array.from({ length: count }, (_, index) => ({ index, embedding: [1] })))
    assert.deepEqual(await embed(), {
      kind: 'failure',
      reason: 'bad_answer',
      detail: `${count} vectors for 2 inputs`,
    })
  }
})

test('malformed answers are bad answers', async () => {
  for (const body of [
    '',
    '<html>',
    '{"data": [',
    'null',
    '[]',
    '"text"',
    '{}',
    '{"data": {}}',
    '{"data": [null]}',
    '{"data": [{"index": 0}]}',
    '{"data": [{"index": 0, "embedding": []}]}',
    '{"data": [{"index": 0, "embedding": [1, null]}]}',
    '{"data": [{"index": 0, "embedding": ["1"]}]}',
    '{"data": [{"index": 0, "embedding": [1e999]}]}',
    '{"data": [{"index": 0, "embedding": ""}]}',
    '{"data": [{"index": 0, "embedding": "not base64"}]}',
    '{"data": [{"index": 0, "embedding": "AAA="}]}',
  ]) {
    upstream.answerJson(body)
    assert.equal(await reasonOf(embed(callOf('a'))), 'bad_answer', body)
  }
})

test('missing, zero or implausible usage is unknown, and the total replaces a missing prompt count', async () => {
  const data = [{ index: 0, embedding: [1] }]
  const unknown = [
    undefined,
    null,
    'much',
    {},
    { prompt_tokens: 0, total_tokens: 0 },
    { prompt_tokens: -8, total_tokens: 8 },
    { prompt_tokens: 8.5 },
    { prompt_tokens: 1e12 },
    { prompt_tokens: '8' },
  ]
  for (const usage of unknown) {
    answerVectors(data, usage ?? null)
    const answer = await embed(callOf('a'))
    assert.deepEqual(
      answer,
      { kind: 'embeddings', vectors: [[1]], usage: undefined },
      JSON.stringify(usage),
    )
  }
  answerVectors(data, { total_tokens: 8 })
  const answer = await embed(callOf('a'))
  assert.deepEqual(answer.kind === 'embeddings' && answer.usage, USED)
})

test('a refusal has its status and its retry time', async () => {
  const text = '{"error":{"message":"no"}}'
  for (const [status, reason] of [
    [400, 'refused_request'],
    [401, 'credentials_refused'],
    [404, 'server_error'],
    [413, 'refused_request'],
    [500, 'server_error'],
    [503, 'server_error'],
  ] as const) {
    upstream.answerJson(text, status)
    const failure = { kind: 'failure', reason, status, detail: String(status) }
    assert.deepEqual(await embed(), failure)
  }
  upstream.answerJson(text, 429, { 'retry-after': '7' })
  assert.deepEqual(await embed(), {
    kind: 'failure',
    reason: 'rate_limited',
    status: 429,
    retryAfterSeconds: 7,
    detail: '429',
  })
})

test('a refusal whose body breaks off keeps its status', async () => {
  upstream.answerWith((_request, response) => {
    response.writeHead(429, { 'retry-after': '2', 'content-length': 100 })
    response.write('{"err', () => response.destroy())
  })
  assert.deepEqual(await embed(), {
    kind: 'failure',
    reason: 'rate_limited',
    status: 429,
    retryAfterSeconds: 2,
    detail: '429',
  })
})

test('an error in an answer with status 200 is a failure of the upstream', async () => {
  upstream.answerJson({ error: { message: 'overloaded' } })
  assert.deepEqual(await embed(), {
    kind: 'failure',
    reason: 'server_error',
    detail: 'error in the answer',
  })
})

test('a broken connection is lost, with half an answer or none', async () => {
  upstream.answerWith((_request, response) => response.destroy())
  assert.equal(await reasonOf(embed()), 'connection_lost')
  upstream.answerWith((_request, response) => {
    response.writeHead(200, { 'content-length': 100 })
    response.write('{"data": [', () => response.destroy())
  })
  assert.equal(await reasonOf(embed()), 'connection_lost')
})

test('an answer that does not begin and one that stalls time out', async () => {
  const provider = upstream.open({ firstByteTimeoutMs: 50, idleTimeoutMs: 50 })
  upstream.answerWith(() => {})
  assert.equal(await reasonOf(embed(callOf('a'), { provider })), 'first_byte_timeout')
  upstream.answerWith((_request, response) => void response.writeHead(200).write('{'))
  assert.equal(await reasonOf(embed(callOf('a'), { provider })), 'idle_timeout')
})

test('if no server listens, the connection fails', async () => {
  // No server listens on port 1.
  const provider = upstream.open({ baseUrl: 'http://127.0.0.1:1/v1' })
  assert.equal(await reasonOf(embed(callOf('a'), { provider })), 'connect_failed')
})

test('an abort ends a call before it is sent, while it waits and while it reads, for any reason', async () => {
  answerVectors([])
  for (const reason of [undefined, new Error('enough'), 'a text']) {
    const signal = AbortSignal.abort(reason)
    assert.equal(await reasonOf(embed(callOf('a'), { signal })), 'aborted')
    for (const begin of ['', '{"data": [']) {
      const leaving = new AbortController()
      upstream.answerWith((_request, response) => {
        if (begin !== '') response.writeHead(200).write(begin)
        setImmediate(() => leaving.abort(reason))
      })
      assert.equal(await reasonOf(embed(callOf('a'), { signal: leaving.signal })), 'aborted')
    }
  }
})

test('Azure receives the key in its own header, and its query with every path', async () => {
  const provider = upstream.open({
    baseUrl: `${upstream.origin}/openai/deployments/mine/`,
    authentication: 'api-key',
    query: { 'api-version': '2025-04-01', 'a b': 'ç&' },
  })
  answerVectors([{ index: 0, embedding: [1] }])
  assert.equal((await embed(callOf('a'), { provider })).kind, 'embeddings')
  const query = '?api-version=2025-04-01&a+b=%C3%A7%26'
  assert.equal(upstream.asked[0]?.url, `/openai/deployments/mine/embeddings${query}`)
  assert.equal(upstream.asked[0]?.headers['api-key'], 'sk-test')
  assert.equal(upstream.asked[0]?.headers.authorization, undefined)

  upstream.answerJson({ choices: [] })
  const chat = {
    model: 'm',
    body: {},
    memo: {},
    isStream: false,
    outputTokensMax: 10,
    imageBytes: 0,
    hasImageAddresses: false,
    hasCacheControl: false,
    cachesForAnHour: false,
    hasFiles: false,
    hasAudio: false,
    webSearchesMax: 0,
    callId: 'call-2',
  }
  await provider.completeChat(chat, new AbortController().signal)
  assert.equal(upstream.asked[1]?.url, `/openai/deployments/mine/chat/completions${query}`)
  assert.equal(upstream.asked[1]?.headers['api-key'], 'sk-test')
})
