/** Credentials, addresses and connections: provider packages use only our settings, never the environment. */
import assert from 'node:assert/strict'
import { generateKeyPairSync, createVerify } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { after, before, test } from 'node:test'
import { startFixtureServer, type FixtureServer } from './fixture-server.ts'
import { startScriptedServer } from './scripted-server.ts'
import { ANTHROPIC, ask, complete, contentOf, GOOGLE, openAiSdk } from './test-provider.ts'

let fixtures: FixtureServer
before(async () => {
  fixtures = await startFixtureServer()
})
after(() => fixtures.close())

/**
 * Variables that an operator's shell may set for other programs. The runner gives each file its own process.
 */
const FOREIGN = {
  ANTHROPIC_API_KEY: 'foreign',
  ANTHROPIC_BASE_URL: 'http://127.0.0.1:1',
  GOOGLE_GENERATIVE_AI_API_KEY: 'foreign',
  GOOGLE_VERTEX_API_KEY: 'foreign',
  GOOGLE_VERTEX_PROJECT: 'foreign',
  GOOGLE_VERTEX_LOCATION: 'foreign',
  GOOGLE_APPLICATION_CREDENTIALS: '/nowhere/foreign.json',
  COHERE_API_KEY: 'foreign',
  AWS_BEARER_TOKEN_BEDROCK: 'foreign',
  AWS_REGION: 'foreign',
  AWS_ACCESS_KEY_ID: 'foreign',
  AWS_SECRET_ACCESS_KEY: 'foreign',
  AWS_SESSION_TOKEN: 'foreign',
  AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
  AWS_ENDPOINT_URL_BEDROCK_RUNTIME: 'http://127.0.0.1:1',
}
before(() => {
  Object.assign(process.env, FOREIGN)
})

const refuse = (_received: unknown, response: ServerResponse): void => {
  response.writeHead(400).end('{}')
}

test('every provider is called at our address with our credentials, and the environment is ignored', async () => {
  const server = await startScriptedServer(refuse)
  const baseUrl = server.url
  const headers = { 'x-own': 'yes' }
  const vertex = { project: 'own', location: 'us-central1' }
  const bedrock = { region: 'us-east-1' }
  const keys = { ...bedrock, accessKeyId: 'AKIDOWN', secretAccessKey: 'own-secret' }
  const providers = [
    openAiSdk('anthropic', { baseUrl, headers, apiKey: 'own' }),
    openAiSdk('google', { baseUrl, headers, apiKey: 'own' }),
    openAiSdk('google-vertex', { baseUrl, headers, apiKey: 'own', vertex }),
    openAiSdk('amazon-bedrock', { baseUrl, headers, apiKey: 'own', bedrock }),
    openAiSdk('amazon-bedrock', { baseUrl, headers, bedrock: keys }),
    openAiSdk('cohere', { baseUrl, headers, apiKey: 'own' }),
    openAiSdk('anthropic', { baseUrl, headers }),
    openAiSdk('google', { baseUrl, headers }),
  ]
  for (const provider of providers) {
    const { failure } = await complete(provider, { body: ask({ model: 'some-model' }) })
    assert.equal(failure?.reason, 'refused_request')
    await provider.close()
  }
  const sent = server.received.map(({ path, headers: got }) => [
    path,
    got['x-api-key'] ?? got['x-goog-api-key'] ?? got.authorization?.replace(/\/\d{8}\/.*/, ''),
  ])
  assert.deepEqual(sent, [
    ['/messages', 'own'],
    ['/models/some-model:generateContent', 'own'],
    ['/models/some-model:generateContent', 'own'],
    ['/model/some-model/converse', 'Bearer own'],
    ['/model/some-model/converse', 'AWS4-HMAC-SHA256 Credential=AKIDOWN'],
    ['/chat', 'Bearer own'],
    ['/messages', ''],
    ['/models/some-model:generateContent', ''],
  ])
  for (const { headers: got } of server.received) {
    assert.equal(got['x-own'], 'yes')
    assert.equal(got['x-catraca-call-id'], 'call-1')
    assert.match(got['user-agent'] ?? '', /^catraca/)
    assert.doesNotMatch(JSON.stringify(got), /foreign/)
  }
  await server.close()
})

test('a provider without credentials or a location cannot be created', () => {
  const vertex = { project: 'own', location: 'us-central1' }
  assert.throws(() => openAiSdk('google-vertex', { vertex }), TypeError)
  assert.throws(() => openAiSdk('amazon-bedrock', { apiKey: 'own' }), TypeError)
  assert.throws(() => openAiSdk('amazon-bedrock', { bedrock: { region: 'x' } }), TypeError)
})

test("vertex: the service account's token is fetched once and shared by all calls until it expires", async () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const server = await startScriptedServer(({ path }, response) => {
    if (path !== '/token') return refuse(undefined, response)
    response.end(JSON.stringify({ access_token: 'token-1', expires_in: 3600 }))
  })
  const provider = openAiSdk('google-vertex', {
    baseUrl: server.url,
    vertex: {
      project: 'own',
      location: 'us-central1',
      clientEmail: 'gateway@own.test',
      privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      tokenUrl: `${server.url}/token`,
    },
  })
  const body = ask({ model: 'gemini-2.5-flash' })
  await Promise.all([complete(provider, { body }), complete(provider, { body })])
  await complete(provider, { body })
  const [token, ...calls] = server.received
  assert.equal(token?.path, '/token')
  assert.deepEqual(
    calls.map(({ path, headers }) => [path, headers.authorization]),
    Array.from({ length: 3 }, () => ['/models/gemini-2.5-flash:generateContent', 'Bearer token-1']),
  )
  const form = new URLSearchParams(token.text)
  assert.equal(form.get('grant_type'), 'urn:ietf:params:oauth:grant-type:jwt-bearer')
  const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.')
  const isSigned = createVerify('RSA-SHA256')
    .update(`${head}.${claims}`)
    .verify(publicKey, signature, 'base64url')
  assert.equal(isSigned, true)
  const { iat, exp, ...rest } = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'))
  assert.equal(exp - iat, 3600)
  assert.deepEqual(rest, {
    iss: 'gateway@own.test',
    scope: 'https://www.googleapis.com/auth/cloud-platform',
    aud: `${server.url}/token`,
  })
  await provider.close()
  await server.close()
})

test('vertex: a refused token request fails as refused credentials, and the next call asks again', async () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const server = await startScriptedServer((_received, response) => {
    response.writeHead(400).end('{"error":"invalid_grant"}')
  })
  const provider = openAiSdk('google-vertex', {
    baseUrl: server.url,
    vertex: {
      project: 'own',
      location: 'us-central1',
      clientEmail: 'gateway@own.test',
      privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      tokenUrl: `${server.url}/token`,
    },
  })
  for (const isStream of [false, true]) {
    const { failure } = await complete(provider, { body: ask(GOOGLE), isStream })
    assert.deepEqual(failure, {
      kind: 'failure',
      reason: 'credentials_refused',
      status: 401,
      detail: '401: invalid_grant',
    })
  }
  assert.equal(server.received.length, 2)
  await provider.close()
  await server.close()
})

test('a slow reader applies backpressure to the upstream', async () => {
  const BYTES_MAX = 48 * 1024 * 1024
  const delta = { type: 'text_delta', text: 'x'.repeat(32 * 1024) }
  const event = `data: ${JSON.stringify({ type: 'content_block_delta', index: 0, delta })}\n\n`
  let sentBytes = 0
  let stall = (): void => {}
  const stalled = new Promise<void>((resolve) => (stall = resolve))
  const server = await startScriptedServer((_received, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const block = { type: 'text', text: '' }
    const usage = { input_tokens: 5, output_tokens: 1 }
    const message = { id: 'msg_1', model: 'm', role: 'assistant', content: [], usage }
    const started = { type: 'message_start', message }
    response.write(`data: ${JSON.stringify(started)}\n\n`)
    const opened = { type: 'content_block_start', index: 0, content_block: block }
    response.write(`data: ${JSON.stringify(opened)}\n\n`)
    const writeOn = (): void => {
      while (sentBytes < BYTES_MAX) {
        sentBytes += event.length
        if (!response.write(event)) {
          const timer = setTimeout(stall, 500)
          response.once('drain', () => {
            clearTimeout(timer)
            writeOn()
          })
          return
        }
      }
      stall()
    }
    writeOn()
  })
  const provider = openAiSdk('anthropic', { baseUrl: server.url, apiKey: 'own' })
  const stream = await provider.completeChat?.(
    { ...contentOf(ask(ANTHROPIC)), isStream: true, callId: 'call-1' },
    new AbortController().signal,
  )
  assert.equal(stream?.kind, 'stream')
  void stream.each(() => new Promise<undefined>(() => {}))
  await stalled
  assert.ok(sentBytes < BYTES_MAX, `${sentBytes} bytes were taken from the upstream`)
  stream.cancel()
  await provider.close()
  await server.close()
})

test('the connection of a finished stream is reused', async () => {
  const sockets = new Set<number | undefined>()
  const server = await startScriptedServer(({ headers }, response) => {
    sockets.add(response.socket?.remotePort)
    assert.equal(headers['x-catraca-call-id'], 'call-1')
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 }
    const candidates = [{ content: { parts: [{ text: 'Hi.' }] }, finishReason: 'STOP' }]
    response.end(`data: ${JSON.stringify({ candidates, usageMetadata })}\n\n`)
  })
  const provider = openAiSdk('google', {
    baseUrl: server.url,
    apiKey: 'own',
    connectionsMax: 1,
  })
  for (let round = 0; round < 3; round += 1) {
    const { turn } = await complete(provider, { body: ask(GOOGLE), isStream: true })
    assert.equal(turn.message.content, 'Hi.')
  }
  assert.equal(sockets.size, 1)
  await provider.close()
  await server.close()
})

test('close aborts running calls', async () => {
  fixtures.fail({ kind: 'hang' })
  const provider = ANTHROPIC.open(fixtures.url)
  const pending = complete(provider, { body: ask(ANTHROPIC) })
  while (fixtures.requests.length === 0) await new Promise((resolve) => setImmediate(resolve))
  await provider.close()
  const { failure } = await pending
  assert.equal(failure?.kind, 'failure')
  await fixtures.requests[0]?.gone
  fixtures.fail(undefined)
})
