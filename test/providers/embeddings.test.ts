/** Embeddings of each provider: the requests, the answers, and how texts are split into requests. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { AiSdkOptions } from '../../src/gateway/providers/ai-sdk/ai-sdk-options.ts'
import type {
  EmbeddingAnswer,
  EmbeddingCall,
  JsonObject,
  Provider,
  UpstreamFailure,
} from '../../src/gateway/providers/contract.ts'
import { answerJson, startScriptedServer, type Received } from './scripted-server.ts'
import { openAiSdk } from './test-provider.ts'

type Answer = (received: Received, response: ServerResponse) => void

let answer: Answer
const server = await startScriptedServer((received, response) => answer(received, response))
after(() => server.close())
beforeEach(() => {
  server.received.length = 0
})

const bedrock = { region: 'us-east-1', accessKeyId: 'AKIDOWN', secretAccessKey: 'own-secret' }
const vertex = { project: 'own', location: 'us-central1' }
const VERTEX_PATH = '/v1/projects/own/locations/us-central1/publishers/google'

function open(kind: AiSdkOptions['kind'], options: Partial<AiSdkOptions> = {}): Provider {
  const path = kind === 'google-vertex' ? VERTEX_PATH : ''
  const keys = kind === 'amazon-bedrock' ? { bedrock } : { apiKey: 'own-key', vertex }
  return openAiSdk(kind, { baseUrl: server.url + path, ...keys, ...options })
}

interface Asked {
  readonly inputs?: EmbeddingCall['inputs']
  readonly dimensions?: number
  readonly fields?: JsonObject
  readonly signal?: AbortSignal
}

async function embed(
  kind: AiSdkOptions['kind'],
  model: string,
  { inputs = ['a', 'b'], dimensions, fields, signal = new AbortController().signal }: Asked = {},
  options: Partial<AiSdkOptions> = {},
): Promise<EmbeddingAnswer | UpstreamFailure> {
  const provider = open(kind, options)
  const body = { model, input: inputs, ...fields }
  const outcome = await provider.embed?.({ body, inputs, dimensions, callId: 'call-1' }, signal)
  assert.ok(outcome)
  await provider.close()
  return outcome
}

function fixture(path: string): Answer {
  const text = readFileSync(join(import.meta.dirname, './fixtures', `${path}.json`), 'utf8')
  return (_received, response) => answerJson(response, 200, text)
}

/** Answers each request with one vector per text: the text's first byte. */
function answerTexts(
  textsOf: (body: any) => string[],
  write: (vectors: number[][], texts: string[]) => unknown,
): Answer {
  return ({ text }, response) => {
    const texts = textsOf(JSON.parse(text))
    answerJson(
      response,
      200,
      write(
        texts.map((one) => [one.charCodeAt(0), one.length]),
        texts,
      ),
    )
  }
}

function sent(): { path: string; body: any }[] {
  return server.received.map(({ path, text }) => ({ path, body: JSON.parse(text) }))
}

const VECTORS = [
  [0.25, -1],
  [1e-7, 3],
]

function used(promptTokens: number): unknown {
  return {
    promptTokens,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    completionTokens: 0,
    reasoningTokens: 0,
  }
}

test('anthropic offers no embeddings', async () => {
  const provider = open('anthropic')
  assert.equal('embed' in provider, false)
  await provider.close()
})

test('google: several texts go in one request, and usage is unknown', async () => {
  answer = fixture('google/embeddings')
  assert.deepEqual(await embed('google', 'gemini-embedding-001', { dimensions: 768 }), {
    kind: 'embeddings',
    vectors: VECTORS,
    usage: undefined,
  })
  assert.deepEqual(sent(), [
    {
      path: '/models/gemini-embedding-001:batchEmbedContents',
      body: {
        requests: ['a', 'b'].map((text) => ({
          model: 'models/gemini-embedding-001',
          content: { role: 'user', parts: [{ text }] },
          outputDimensionality: 768,
        })),
      },
    },
  ])
  const [request] = server.received
  assert.equal(request?.headers['x-goog-api-key'], 'own-key')
  assert.equal(request?.headers['x-catraca-call-id'], 'call-1')
})

test('google: a single text uses its own kind of request', async () => {
  answer = fixture('google/embedding')
  assert.deepEqual(await embed('google', 'gemini-embedding-001', { inputs: ['a'] }), {
    kind: 'embeddings',
    vectors: [[0.25, -1]],
    usage: undefined,
  })
  assert.deepEqual(sent(), [
    {
      path: '/models/gemini-embedding-001:embedContent',
      body: { model: 'models/gemini-embedding-001', content: { parts: [{ text: 'a' }] } },
    },
  ])
})

test('google: usage counts when a model reports it', async () => {
  answer = (_received, response) =>
    answerJson(response, 200, {
      embedding: { values: [1] },
      usageMetadata: { promptTokenCount: 4 },
    })
  const outcome = await embed('google', 'gemini-embedding-2', { inputs: ['a'] })
  assert.deepEqual(outcome, { kind: 'embeddings', vectors: [[1]], usage: used(4) })
})

test('google-vertex: texts are embedded together, and usage is the sum of their tokens', async () => {
  answer = fixture('google-vertex/embeddings')
  assert.deepEqual(await embed('google-vertex', 'text-embedding-005', { dimensions: 256 }), {
    kind: 'embeddings',
    vectors: VECTORS,
    usage: used(8),
  })
  assert.deepEqual(sent(), [
    {
      path: `${VERTEX_PATH}/models/text-embedding-005:predict`,
      body: {
        instances: [{ content: 'a' }, { content: 'b' }],
        parameters: { outputDimensionality: 256 },
      },
    },
  ])
})

test('google-vertex: a model that takes one text at a time gets one request per text', async () => {
  answer = answerTexts(
    ({ instances }) => instances.map(({ content }: { content: string }) => content),
    (vectors) => ({
      predictions: vectors.map((values) => ({
        embeddings: { values, statistics: { truncated: false, token_count: 2 } },
      })),
    }),
  )
  const inputs = ['a', 'bb', 'ccc']
  assert.deepEqual(await embed('google-vertex', 'gemini-embedding-001', { inputs }), {
    kind: 'embeddings',
    vectors: [
      [97, 1],
      [98, 2],
      [99, 3],
    ],
    usage: used(6),
  })
  assert.equal(server.received.length, 3)
})

test('google-vertex: a request never has more bytes than Vertex accepts tokens', async () => {
  answer = answerTexts(
    ({ instances }) => instances.map(({ content }: { content: string }) => content),
    (vectors) => ({
      predictions: vectors.map((values) => ({
        embeddings: { values, statistics: { truncated: false, token_count: 2 } },
      })),
    }),
  )
  const inputs = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(8_000))
  const outcome = await embed('google-vertex', 'text-embedding-005', { inputs })
  assert.deepEqual(
    outcome.kind === 'embeddings' && outcome.vectors.map(([first]) => first),
    [97, 98, 99, 100],
  )
  assert.deepEqual(
    server.received.map(({ text }) => JSON.parse(text).instances.length),
    [2, 2],
  )
})

test('google-vertex: the usage that the newest model reports counts', async () => {
  answer = (_received, response) =>
    answerJson(response, 200, {
      embedding: { values: [1] },
      usageMetadata: { promptTokenCount: 3 },
    })
  const outcome = await embed('google-vertex', 'gemini-embedding-2')
  assert.deepEqual(outcome, { kind: 'embeddings', vectors: [[1], [1]], usage: used(6) })
  assert.deepEqual(
    server.received.map(({ path }) => path),
    Array.from({ length: 2 }, () => `${VERTEX_PATH}/models/gemini-embedding-2:embedContent`),
  )
})

test('amazon-bedrock: Titan takes one text per signed request', async () => {
  answer = fixture('amazon-bedrock/embedding-titan')
  assert.deepEqual(
    await embed('amazon-bedrock', 'amazon.titan-embed-text-v2:0', { dimensions: 512 }),
    {
      kind: 'embeddings',
      vectors: [
        [0.25, -1],
        [0.25, -1],
      ],
      usage: used(8),
    },
  )
  // The requests are sent in parallel: either may arrive first.
  assert.deepEqual(
    sent().toSorted((one, other) => (one.body.inputText < other.body.inputText ? -1 : 1)),
    ['a', 'b'].map((inputText) => ({
      path: '/model/amazon.titan-embed-text-v2%3A0/invoke',
      body: { inputText, dimensions: 512 },
    })),
  )
  assert.match(server.received[0]?.headers.authorization ?? '', /^AWS4-HMAC-SHA256 Credential=/)
})

test('amazon-bedrock: Nova names its dimensions field differently', async () => {
  answer = fixture('amazon-bedrock/embedding-nova')
  const outcome = await embed('amazon-bedrock', 'amazon.nova-2-multimodal-embeddings-v1:0', {
    inputs: ['a'],
    dimensions: 384,
  })
  assert.deepEqual(outcome, { kind: 'embeddings', vectors: [[0.25, -1]], usage: used(4) })
  const [request] = sent()
  assert.deepEqual(request?.body, {
    taskType: 'SINGLE_EMBEDDING',
    singleEmbeddingParams: {
      embeddingPurpose: 'GENERIC_INDEX',
      embeddingDimension: 384,
      text: { truncationMode: 'END', value: 'a' },
    },
  })
})

test('amazon-bedrock: Cohere takes texts together, and Amazon reports their tokens in a header', async () => {
  answer = (received, response) => {
    response.setHeader('x-amzn-bedrock-input-token-count', '8')
    fixture('amazon-bedrock/embeddings-cohere')(received, response)
  }
  const asked = { dimensions: 512, fields: { input_type: 'search_document' } }
  assert.deepEqual(await embed('amazon-bedrock', 'us.cohere.embed-v4:0', asked), {
    kind: 'embeddings',
    vectors: VECTORS,
    usage: used(8),
  })
  assert.deepEqual(sent(), [
    {
      path: '/model/us.cohere.embed-v4%3A0/invoke',
      body: { input_type: 'search_document', texts: ['a', 'b'], output_dimension: 512 },
    },
  ])
})

test('amazon-bedrock: a missing token header means unknown usage, not zero', async () => {
  answer = fixture('amazon-bedrock/embeddings-cohere')
  const outcome = await embed('amazon-bedrock', 'cohere.embed-multilingual-v3')
  assert.equal(outcome.kind, 'embeddings')
  assert.equal(outcome.kind === 'embeddings' && outcome.usage, undefined)
})

test('cohere: texts are sent together with their input type, and billed tokens count', async () => {
  answer = fixture('cohere/embeddings')
  const asked = { dimensions: 512, fields: { input_type: 'search_document' } }
  assert.deepEqual(await embed('cohere', 'embed-v4.0', asked), {
    kind: 'embeddings',
    vectors: VECTORS,
    usage: used(8),
  })
  assert.deepEqual(sent(), [
    {
      path: '/embed',
      body: {
        model: 'embed-v4.0',
        embedding_types: ['float'],
        texts: ['a', 'b'],
        input_type: 'search_document',
        output_dimension: 512,
      },
    },
  ])
  assert.equal(server.received[0]?.headers.authorization, 'Bearer own-key')
})

const cohereTexts = ({ texts }: { texts: string[] }): string[] => texts

function cohereAnswer(vectors: unknown, inputTokens: number): unknown {
  return {
    id: 'e',
    embeddings: { float: vectors },
    texts: [],
    meta: { billed_units: { input_tokens: inputTokens } },
  }
}

test('texts beyond the limit of a request are sent in batches, and vectors keep the order of the texts', async () => {
  // The first batch is answered before the others, and of these the last one first.
  let waiting: (() => void)[] = []
  const batched = answerTexts(cohereTexts, (vectors, texts) => cohereAnswer(vectors, texts.length))
  answer = (received, response) => {
    waiting.push(() => batched(received, response))
    if (server.received.length !== 2) {
      const answers = waiting.toReversed()
      waiting = []
      for (const write of answers) write()
    }
  }
  const inputs = Array.from({ length: 200 }, (_, index) => String.fromCharCode(0x4e00 + index))
  const outcome = await embed('cohere', 'embed-v4.0', { inputs })
  assert.deepEqual(outcome, {
    kind: 'embeddings',
    vectors: inputs.map((text) => [text.charCodeAt(0), 1]),
    usage: used(200),
  })
  assert.deepEqual(
    server.received.map(({ text }) => JSON.parse(text).texts.length).toSorted((a, b) => a - b),
    [8, 96, 96],
  )
})

test('usage is unknown when one batch reports none', async () => {
  answer = answerTexts(cohereTexts, (vectors, texts) =>
    cohereAnswer(vectors, texts.length < 96 ? 0 : texts.length),
  )
  const inputs = Array.from({ length: 100 }, () => 'a')
  const outcome = await embed('cohere', 'embed-v4.0', { inputs })
  assert.equal(outcome.kind === 'embeddings' && outcome.vectors.length, 100)
  assert.equal(outcome.kind === 'embeddings' && outcome.usage, undefined)
})

test('one failed batch fails the call and aborts the other batches', async () => {
  let hanging: Received | undefined
  answer = (received, response) => {
    const { texts } = JSON.parse(received.text)
    if (texts[0] === 'longest') {
      const floats = texts.map(() => [1])
      return answerJson(response, 200, cohereAnswer(floats, texts.length))
    }
    if (texts.length === 96) {
      hanging = received
      return
    }
    const wait = (): void => {
      if (!hanging) return void setImmediate(wait)
      response.setHeader('retry-after', '3')
      answerJson(response, 429, { message: 'Slow down.' })
    }
    wait()
  }
  const inputs = ['longest', ...Array.from({ length: 195 }, () => 'a')]
  assert.deepEqual(await embed('cohere', 'embed-v4.0', { inputs }), {
    kind: 'failure',
    reason: 'rate_limited',
    status: 429,
    retryAfterSeconds: 3,
    detail: '1 of 3 batches were answered and are not charged; 429',
  })
  await hanging?.gone
})

test('the batch with the longest text is answered before another is sent, and the order is kept', async () => {
  let isFirstAnswered = false
  answer = (received, response) => {
    const { inputText } = JSON.parse(received.text)
    if (inputText !== 'longest') assert.ok(isFirstAnswered)
    setTimeout(() => {
      isFirstAnswered = true
      answerJson(response, 200, { embedding: [inputText.length], inputTextTokenCount: 1 })
    }, 20)
  }
  const inputs = ['a', 'ab', 'longest', 'abc']
  const outcome = await embed('amazon-bedrock', 'amazon.titan-embed-text-v2:0', { inputs })
  assert.deepEqual(outcome.kind === 'embeddings' && outcome.vectors, [[1], [2], [7], [3]])
  assert.equal(JSON.parse(server.received[0]?.text ?? '').inputText, 'longest')
})

test('a longest text that is refused is the only one that was sent', async () => {
  answer = (_received, response) => answerJson(response, 400, { message: 'Too long.' })
  const inputs = [...Array.from({ length: 50 }, () => 'a'), 'too long', 'a']
  const outcome = await embed('amazon-bedrock', 'amazon.titan-embed-text-v2:0', { inputs })
  assert.equal(outcome.kind === 'failure' && outcome.detail, '400')
  assert.equal(server.received.length, 1)
})

test('after the first failure no batch is sent, and those in flight are aborted', async () => {
  const inFlight: [Received, ServerResponse][] = []
  answer = (received, response) => {
    if (JSON.parse(received.text).inputText === 'longest')
      return answerJson(response, 200, { embedding: [1], inputTextTokenCount: 1 })
    inFlight.push([received, response])
    if (inFlight.length === 8) answerJson(inFlight[3]?.[1] as ServerResponse, 400, 'No.')
  }
  const inputs = ['longest', ...Array.from({ length: 100 }, () => 'a')]
  const options = { connectionsMax: 8 }
  const model = 'amazon.titan-embed-text-v2:0'
  const outcome = await embed('amazon-bedrock', model, { inputs }, options)
  assert.equal(
    outcome.kind === 'failure' && outcome.detail,
    '1 of 101 batches were answered and are not charged; 400',
  )
  await Promise.all(inFlight.filter((_one, at) => at !== 3).map(([received]) => received.gone))
  assert.equal(server.received.length, 9)
})

test('many texts that need a request each are sent with limited concurrency', async () => {
  let open = 0
  let openMax = 0
  answer = (_received, response) => {
    open += 1
    openMax = Math.max(openMax, open)
    setImmediate(() => {
      open -= 1
      answerJson(response, 200, { embedding: [1], inputTextTokenCount: 1 })
    })
  }
  const inputs = Array.from({ length: 60 }, () => 'a')
  const outcome = await embed('amazon-bedrock', 'amazon.titan-embed-text-v2:0', { inputs })
  assert.deepEqual(outcome.kind === 'embeddings' && outcome.usage, used(60))
  assert.equal(server.received.length, 60)
  assert.ok(openMax <= 8, `${openMax} at once`)
})

test('tokens instead of texts are refused before any request', async () => {
  assert.deepEqual(await embed('cohere', 'embed-v4.0', { inputs: ['a', [1, 2, 3]] }), {
    kind: 'failure',
    reason: 'unsupported',
    detail: 'this upstream accepts texts, not tokens',
  })
  assert.equal(server.received.length, 0)
})

for (const [kind, model, asked] of [
  ['cohere', 'embed-v4.0', { dimensions: 300 }],
  ['cohere', 'embed-v4.0', { fields: { input_type: 'poetry' } }],
  ['amazon-bedrock', 'amazon.titan-embed-text-v2:0', { dimensions: 300 }],
  ['amazon-bedrock', 'amazon.nova-2-multimodal-embeddings-v1:0', { dimensions: 512 }],
] as const) {
  test(`${kind}: ${JSON.stringify(asked)} for ${model} is refused before any request`, async () => {
    const outcome = await embed(kind, model, asked)
    assert.equal(outcome.kind === 'failure' && outcome.reason, 'unsupported')
    assert.equal(server.received.length, 0)
  })
}

for (const [name, body] of [
  ['fewer vectors than texts', cohereAnswer([[1]], 2)],
  ['more vectors than texts', cohereAnswer([[1], [2], [3]], 2)],
  ['an empty vector', cohereAnswer([[1], []], 2)],
  ['a vector of words', cohereAnswer([[1], ['x']], 2)],
  ['no vectors', { id: 'e' }],
  ['half a JSON', '{"embeddings":{"float":[[1],'],
] as const) {
  test(`${name}: the call fails with bad_answer`, async () => {
    answer = (_received, response) => answerJson(response, 200, body)
    const outcome = await embed('cohere', 'embed-v4.0')
    assert.equal(outcome.kind === 'failure' && outcome.reason, 'bad_answer')
  })
}

const MODELS = [
  ['google', 'gemini-embedding-001'],
  ['google-vertex', 'text-embedding-005'],
  ['amazon-bedrock', 'amazon.titan-embed-text-v2:0'],
  ['cohere', 'embed-v4.0'],
] as const

// Each waits most of a second for a timer of the client, so they run at once.
describe('an upstream that does not answer', { concurrency: true }, () => {
  before(() => (answer = () => {}))
  for (const [kind, model] of MODELS)
    test(`${kind}: an answer that does not start in time is first_byte_timeout`, async () => {
      const outcome = await embed(kind, model, { inputs: ['a'] }, { firstByteTimeoutMs: 200 })
      assert.equal(outcome.kind === 'failure' && outcome.reason, 'first_byte_timeout')
    })
})

for (const [kind, model] of MODELS) {
  for (const [status, reason] of [
    [400, 'refused_request'],
    [403, 'credentials_refused'],
    [429, 'rate_limited'],
    [500, 'server_error'],
  ] as const) {
    test(`${kind}: ${status} is ${reason}`, async () => {
      answer = (_received, response) => answerJson(response, status, { message: 'No.' })
      assert.deepEqual(await embed(kind, model, { inputs: ['a'] }), {
        kind: 'failure',
        reason,
        status,
        detail: String(status),
      })
    })
  }

  test(`${kind}: an abort by the caller aborts the request upstream`, async () => {
    const caller = new AbortController()
    answer = () => caller.abort(new Error('the customer has left'))
    const outcome = await embed(kind, model, { inputs: ['a'], signal: caller.signal })
    assert.equal(outcome.kind === 'failure' && outcome.reason, 'aborted')
    await server.received[0]?.gone
  })
}
