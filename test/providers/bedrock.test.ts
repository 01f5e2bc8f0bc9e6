/** Requests to Bedrock, their signatures, and Bedrock's binary streams. */
import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { after, before, beforeEach, test } from 'node:test'
import { eventFrame, exceptionFrame } from './event-stream.ts'
import { startFixtureServer, type FixtureServer } from './fixture-server.ts'
import { answerJson, startScriptedServer, type Received } from './scripted-server.ts'
import { ask, BEDROCK, complete, openAiSdk, type Outcome } from './test-provider.ts'
import {
  IMAGE_BASE64,
  WEATHER_THINKING,
  WEATHER_TOOLS,
  weatherRequest,
  withToolResults,
} from './weather-conversation.ts'

let server: FixtureServer
before(async () => {
  server = await startFixtureServer()
})
beforeEach(() => {
  server.requests.length = 0
})
after(() => server.close())

const MODEL_PATH = '/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0'
const [weather, time] = WEATHER_TOOLS.map((tool) => tool.function)
const SIGNATURE = 'EqQBCkYIBxgCKkBsbPc2H4mSi'
const REDACTED = 'EmwKAhgBEgyZ3vPoSRYaJ5'

for (const isStream of [false, true]) {
  const manner = isStream ? 'streamed' : 'plain'
  const method = isStream ? 'converse-stream' : 'converse'

  test(`${manner}: thinking, redacted thinking and tool results are sent back unchanged`, async () => {
    const provider = BEDROCK.open(server.url)
    const request = weatherRequest(BEDROCK.model)
    const { turn } = await complete(provider, { body: request, isStream })
    assert.deepEqual(turn.message.reasoning_details, [
      { type: 'reasoning.text', text: WEATHER_THINKING, signature: SIGNATURE, index: 0 },
      { type: 'reasoning.encrypted', data: REDACTED, index: 1 },
    ])
    await complete(provider, { body: withToolResults(request, turn.message), isStream })
    const [, sent] = server.requests
    assert.equal(sent?.path, `/bedrock${MODEL_PATH}/${method}`)
    assert.equal(sent?.headers['x-catraca-call-id'], 'call-1')
    assert.deepEqual(sent?.body, {
      system: [{ text: 'You answer in one sentence.' }],
      messages: [
        {
          role: 'user',
          content: [
            { text: 'What is the weather in this city, and the time in Manaus?' },
            { image: { format: 'png', source: { bytes: IMAGE_BASE64 } } },
          ],
        },
        {
          role: 'assistant',
          content: [
            {
              reasoningContent: {
                reasoningText: { text: WEATHER_THINKING, signature: SIGNATURE },
              },
            },
            { reasoningContent: { redactedContent: REDACTED } },
            {
              toolUse: {
                toolUseId: 'tooluse_00',
                name: 'get_weather',
                input: { city: 'Recife', unit: 'celsius' },
              },
            },
            { toolUse: { toolUseId: 'tooluse_01', name: 'get_time', input: { city: 'Manaus' } } },
          ],
        },
        {
          role: 'user',
          content: [
            toolResult('tooluse_00', '{"celsius":29,"sky":"sun"}'),
            toolResult('tooluse_01', '14:05'),
          ],
        },
      ],
      toolConfig: {
        tools: [weather, time].map((tool) => ({
          toolSpec: {
            name: tool?.name,
            description: tool?.description,
            inputSchema: { json: tool?.parameters },
          },
        })),
        toolChoice: { auto: {} },
      },
      inferenceConfig: { maxTokens: 4096 },
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 1024 } },
      additionalModelResponseFieldPaths: ['/delta/stop_sequence'],
    })
    await provider.close()
  })

  function toolResult(toolUseId: string, text: string): unknown {
    return { toolResult: { toolUseId, content: [{ text }] } }
  }

  test(`${manner}: a request carries a signature that Amazon would accept`, async () => {
    const { received } = await meet(isStream, refuse)
    const { path, headers, text } = received
    assert.equal(path, `${MODEL_PATH}/${method}`)
    assert.equal(headers['x-amz-security-token'], 'own-session')
    assert.match(String(headers['x-amz-date']), /^\d{8}T\d{6}Z$/)
    const [, day, signedHeaders = '', signature] =
      /^AWS4-HMAC-SHA256 Credential=AKIDOWN\/(\d{8})\/us-east-1\/bedrock\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/.exec(
        headers.authorization ?? '',
      ) ?? []
    assert.equal(day, String(headers['x-amz-date']).slice(0, 8))
    for (const name of ['host', 'x-amz-date', 'x-amz-security-token']) {
      assert.ok(signedHeaders.split(';').includes(name), name)
    }
    assert.equal(signature, signAsAmazon({ path, headers, text }, signedHeaders, day ?? ''))
  })

  test(`${manner}: a request with an API key is not signed`, async () => {
    const { received } = await meet(isStream, refuse, { apiKey: 'own-key' })
    assert.equal(received.headers.authorization, 'Bearer own-key')
    assert.equal(received.headers['x-amz-date'], undefined)
  })

  for (const [status, type, reason] of [
    [400, 'ValidationException', 'refused_request'],
    [403, 'AccessDeniedException', 'credentials_refused'],
    [424, 'ModelErrorException', 'server_error'],
    [429, 'ThrottlingException', 'rate_limited'],
    [503, 'ServiceUnavailableException', 'server_error'],
  ] as const) {
    test(`${manner}: ${type} is reported as ${reason}`, async () => {
      const { failure, isBrokenStream } = await meet(isStream, (_received, response) => {
        response.setHeader('x-amzn-errortype', `${type}:http://internal.amazon.com/coral/`)
        answerJson(response, status, { message: 'No.' })
      })
      assert.deepEqual(failure, {
        kind: 'failure',
        reason,
        status,
        detail: String(status),
      })
      assert.equal(isBrokenStream, undefined)
    })
  }
}

const FIRST_WORDS = eventFrame(
  '{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":"Recife has"}}}',
)

for (const [type, status, reason] of [
  ['internalServerException', 500, 'server_error'],
  ['modelStreamErrorException', 424, 'server_error'],
  ['serviceUnavailableException', 503, 'server_error'],
  ['throttlingException', 429, 'rate_limited'],
  ['validationException', 400, 'refused_request'],
] as const) {
  test(`a stream with ${type} delivers its chunks, then fails with ${reason}`, async () => {
    const { failure, turn, isBrokenStream } = await meet(
      true,
      stream(FIRST_WORDS, exceptionFrame(type, { message: 'No.' })),
    )
    assert.equal(isBrokenStream, true)
    assert.equal(turn.message.content, 'Recife has')
    assert.deepEqual(failure, {
      kind: 'failure',
      reason,
      status,
      detail: `${status}: ${type}`,
    })
  })
}

test('frames are decoded however the network splits them', async () => {
  const frames = Buffer.concat([
    eventFrame('{"messageStart":{"role":"assistant"}}'),
    FIRST_WORDS,
    eventFrame('{"contentBlockStop":{"contentBlockIndex":0}}'),
    eventFrame('{"messageStop":{"stopReason":"end_turn"}}'),
    eventFrame('{"metadata":{"usage":{"inputTokens":5,"outputTokens":2,"totalTokens":7}}}'),
  ])
  const { turn, usage, failure } = await meet(true, (_received, response) => {
    response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
    const write = (start: number): void => {
      if (start >= frames.length) return void response.end()
      response.write(frames.subarray(start, start + 7), () => setImmediate(write, start + 7))
    }
    write(0)
  })
  assert.equal(failure, undefined)
  assert.equal(turn.message.content, 'Recife has')
  assert.equal(turn.finishReason, 'stop')
  assert.equal(usage?.promptTokens, 5)
  assert.equal(usage?.completionTokens, 2)
})

test('a frame with a wrong checksum fails the stream after the chunks before it', async () => {
  const wrong = Buffer.from(FIRST_WORDS)
  wrong.writeUInt8(wrong.readUInt8(wrong.length - 6) ^ 1, wrong.length - 6)
  const { failure, turn, isBrokenStream } = await meet(true, stream(FIRST_WORDS, wrong))
  assert.equal(isBrokenStream, true)
  assert.equal(turn.message.content, 'Recife has')
  assert.equal(failure?.reason, 'bad_answer')
})

test('a stream that ends in the middle of a frame fails after the chunks before it', async () => {
  const { failure, turn, usage } = await meet(
    true,
    stream(FIRST_WORDS, FIRST_WORDS.subarray(0, 30)),
  )
  assert.equal(turn.message.content, 'Recife has')
  assert.equal(failure?.reason, 'bad_answer')
  assert.equal(usage, undefined)
})

test('a stream that ends before its usage has unknown usage', async () => {
  const { failure, turn, usage } = await meet(
    true,
    stream(FIRST_WORDS, eventFrame('{"messageStop":{"stopReason":"end_turn"}}')),
  )
  assert.equal(failure, undefined)
  assert.equal(turn.finishReason, 'stop')
  assert.equal(usage, undefined)
})

test('cache marks are sent as cache points', async () => {
  const provider = BEDROCK.open(server.url)
  const cached = { cache_control: { type: 'ephemeral' } }
  await complete(provider, {
    body: {
      model: BEDROCK.model,
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'Be brief.', ...cached }] },
        { role: 'user', content: [{ type: 'text', text: 'One.', ...cached }] },
      ],
    },
  })
  const cachePoint = { cachePoint: { type: 'default' } }
  assert.deepEqual(server.requests[0]?.body.system, [{ text: 'Be brief.' }, cachePoint])
  assert.deepEqual(server.requests[0]?.body.messages[0].content, [{ text: 'One.' }, cachePoint])
  await provider.close()
})

function refuse(_received: Received, response: ServerResponse): void {
  answerJson(response, 400, { message: 'No.' })
}

function stream(...frames: Buffer[]) {
  return (_received: Received, response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
    response.end(Buffer.concat(frames))
  }
}

async function meet(
  isStream: boolean,
  answer: Parameters<typeof startScriptedServer>[0],
  options: { readonly apiKey?: string } = {},
): Promise<Outcome & { readonly received: Received }> {
  const scripted = await startScriptedServer(answer)
  const provider = openAiSdk('amazon-bedrock', {
    baseUrl: scripted.url,
    bedrock: {
      region: 'us-east-1',
      accessKeyId: 'AKIDOWN',
      secretAccessKey: 'own-secret',
      sessionToken: 'own-session',
    },
    ...options,
  })
  const outcome = await complete(provider, { body: ask(BEDROCK), isStream })
  await provider.close()
  await scripted.close()
  const [received] = scripted.received
  assert.ok(received)
  return { ...outcome, received }
}

/** The Signature Version 4 of a received request, computed as Amazon's documentation describes. */
function signAsAmazon(
  { path, headers, text }: Pick<Received, 'path' | 'headers' | 'text'>,
  signedHeaders: string,
  day: string,
): string {
  const sha256 = (content: string): string => createHash('sha256').update(content).digest('hex')
  const hmac = (key: string | Buffer, content: string): Buffer =>
    createHmac('sha256', key).update(content).digest()
  const canonicalHeaders = signedHeaders
    .split(';')
    .map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}\n`)
    .join('')
  // Every service except S3 encodes each path segment a second time.
  const canonicalPath = path.split('/').map(encodeURIComponent).join('/')
  const request = ['POST', canonicalPath, '', canonicalHeaders, signedHeaders, sha256(text)]
  const scope = `${day}/us-east-1/bedrock/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(request.join('\n'))]
  const key = ['us-east-1', 'bedrock', 'aws4_request'].reduce<Buffer>(
    hmac,
    hmac('AWS4own-secret', day),
  )
  return hmac(key, toSign.join('\n')).toString('hex')
}
