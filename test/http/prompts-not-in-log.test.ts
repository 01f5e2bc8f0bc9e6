// deep: an attack
/** Whatever an upstream quotes when a call fails, and whatever a client sends, the log has no word of a prompt. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createApp, type App } from '../../src/app/create-app.ts'
import { loadConfig } from '../../src/app/config/config.ts'
import { createProcessLog } from '../../src/platform/lib/log.ts'
import { ask, type Asked } from '../harness/ask.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'

/** A name, a document, an illness: without characters that JSON or a URL would escape. */
const SECRETS = ['Ana-Souza-Prado', '529.982.247-25', 'hanseniase']
const PROMPT = `Paciente ${SECRETS[0]}, CPF ${SECRETS[1]}, tem ${SECRETS[2]}: "cura" {x`
const JSON_TYPE = { 'content-type': 'application/json' }
const SSE = { 'content-type': 'text/event-stream' }

type Failure = (response: ServerResponse, echo: string) => void

const quoted = (echo: string): string =>
  JSON.stringify({
    type: 'error',
    message: echo,
    error: { message: echo, type: echo, code: SECRETS[2], status: echo, param: echo },
  })
const status =
  (code: number): Failure =>
  (response, echo) =>
    response
      .writeHead(code, SECRETS[2], { ...JSON_TYPE, 'retry-after': SECRETS[0] })
      .end(quoted(echo))
const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
const stream =
  (...events: ((echo: string) => string)[]): Failure =>
  (response, echo) => {
    response.writeHead(200, SSE)
    for (const event of events) response.write(event(echo))
    response.end()
  }

const FAILURES: Readonly<Record<string, Failure>> = {
  ...Object.fromEntries(
    [400, 401, 403, 404, 413, 422, 429, 500, 503].map((code) => [code, status(code)]),
  ),
  html: (response, echo) =>
    response.writeHead(400, { 'content-type': 'text/html' }).end(`<p>${echo}`),
  redirect: (response) =>
    response.writeHead(302, { location: `http://x.test/${SECRETS[2]}` }).end(),
  'error with status 200': (response, echo) => response.writeHead(200, JSON_TYPE).end(quoted(echo)),
  'text instead of JSON': (response, echo) => response.writeHead(200, JSON_TYPE).end(echo),
  'cut JSON': (response, echo) =>
    response
      .writeHead(200, JSON_TYPE)
      .end(`{"choices":[{"message":{"content":"${SECRETS[2]} ${echo.length}`),
  'a list': (response, echo) => response.writeHead(200, JSON_TYPE).end(JSON.stringify([echo])),
  'unknown shape': (response, echo) =>
    response.writeHead(200, JSON_TYPE).end(
      JSON.stringify({
        id: echo,
        data: echo,
        choices: echo,
        content: [{ type: SECRETS[2], text: echo }],
        candidates: [{ content: echo, finishReason: SECRETS[2] }],
        finish_reason: SECRETS[2],
        stop_reason: SECRETS[2],
        usage: echo,
      }),
    ),
  'compressed text': (response, echo) =>
    response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }).end(echo),
  'no HTTP': (response) =>
    void response.socket?.end(`HTTP/1.1 2x0 ${SECRETS[2]}\r\n${SECRETS[0]}\r\n\r\n`),
  'a cut connection': (response) => void response.socket?.destroy(),
  'an error event': stream((echo) => `event: error\ndata: ${quoted(echo)}\n\n`),
  'an event that is no JSON': stream((echo) => `data: ${echo.replaceAll('\n', ' ')}\n\n`),
  'an error after output': stream(
    () => chunk({ content: 'Oi' }),
    (echo) => `data: ${quoted(echo)}\n\n`,
  ),
  'garbage after output': stream(
    () => chunk({ content: 'Oi' }),
    () => `data: ${SECRETS.join(' ')}\n\n`,
  ),
  'an unknown end': stream(
    () => chunk({ content: 'Oi' }),
    () => chunk({}, SECRETS[2]),
  ),
}

let upstream: Server
let failure: Failure
let config: ConfigFile
let dataDir: string
let database: TestDatabase
let app: App
let baseUrl: string
let secret: string
const log: string[] = []

before(async () => {
  upstream = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (bytes: Buffer) => chunks.push(bytes))
    request.on('end', () => failure(response, Buffer.concat(chunks).toString('utf8')))
  }).listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  const base_url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  const kinds = ['openai-compatible', 'anthropic', 'google', 'cohere'] as const
  const model = (id: string, upstreamId: string, more: object = {}) => ({
    id,
    category: 'llm',
    prices: { input: '1', output: '1' },
    context_tokens: 8_000,
    max_output_tokens: 100,
    routes: [{ upstream: upstreamId, model: 'm' }],
    ...more,
  })
  config = await writeConfigFile({
    upstreams: kinds.map((kind) => ({
      id: kind,
      kind,
      base_url,
      api_key_env: 'ECHO_KEY',
      retries: 0,
      breaker: { failures: 0 },
      idle_timeout_ms: 2_000,
    })),
    models: [
      ...kinds.map((kind) => model(`chat-${kind}`, kind)),
      model('vetores', 'openai-compatible', {
        category: 'embedding',
        prices: { input: '1' },
        embedding: { dimensions: 2, can_shorten: true },
      }),
      model('imagens', 'openai-compatible', {
        category: 'image',
        prices: { images: { default: '1' } },
      }),
      model('escuta', 'openai-compatible', { category: 'audio', prices: { audio_hour: '1' } }),
    ] as never,
  })
  database = await createTestDatabase()
  ;({ secret } = await seedCustomer(database.db, { balanceBrl: '10000' }))
  dataDir = await mkdtemp(join(tmpdir(), 'catraca-logs-'))
  const settings = loadConfig(
    {
      CATRACA_CONFIG: config.path,
      ECHO_KEY: 'k',
      DATA_DIR: dataDir,
      PORT: '0',
      RATE_LIMIT_PER_IP: '100000',
    },
    dataDir,
  )
  // Each line in a window of its own, so that none is suppressed.
  let nowMs = 0
  const processLog = createProcessLog(
    'debug',
    (line) => log.push(line),
    () => (nowMs += 60_000),
  )
  app = await createApp(settings, database.databaseUrl, processLog, { hasWorkers: false })
  baseUrl = `${await app.listen()}/v1`
})
after(async () => {
  upstream.closeAllConnections()
  upstream.close()
  await app.close()
  await database.drop()
  await config.remove()
  await rm(dataDir, { recursive: true, force: true })
})

function post(path: string, body: unknown): Promise<Asked> {
  return ask(baseUrl, path, { secret, body })
}

function transcribe(): Promise<Response> {
  const form = new FormData()
  form.set('file', new File([Buffer.alloc(400)], `${SECRETS[0]}.wav`))
  form.set('model', 'escuta')
  form.set('prompt', PROMPT)
  const headers = { authorization: `Bearer ${secret}` }
  const url = `${baseUrl}/audio/transcriptions`
  return fetch(url, { method: 'POST', headers, body: form })
}

function assertClean(about: string): void {
  const found = log.filter((line) => SECRETS.some((word) => line.includes(word)))
  assert.deepEqual(found, [], about)
}

test('no failure of a call writes a name, a document or an illness of its prompt to the log', async () => {
  const messages = [{ role: 'user', content: PROMPT }]
  const chats = ['openai-compatible', 'anthropic', 'google', 'cohere'].flatMap((kind) =>
    [false, true].map((stream) => ({ model: `chat-${kind}`, messages, stream, user: SECRETS[0] })),
  )
  for (const [name, play] of Object.entries(FAILURES)) {
    failure = play
    await Promise.all([
      ...chats.map((body) => post('/chat/completions', body)),
      post('/embeddings', { model: 'vetores', input: PROMPT }),
      post('/images/generations', { model: 'imagens', prompt: PROMPT }),
      transcribe().then((answer) => answer.text()),
    ])
    assertClean(name)
  }
  const failed = log.filter((line) => line.includes('upstream_failed'))
  assert.ok(failed.length > 100, 'the failures are in the log')
  assert.ok(failed.some((line) => /"detail":"429"/.test(line)))
})

test('a request that is refused writes nothing of its text to the log', async () => {
  failure = status(500)
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
  for (const path of [
    '/chat/completions',
    '/embeddings',
    '/images/generations',
    '/prompts',
    '/alerts',
  ])
    for (const body of [
      PROMPT,
      `{"model":"${SECRETS[0]}","messages":"${SECRETS[1]}"}`,
      JSON.stringify({ model: 'chat-cohere', messages: [{ role: SECRETS[2], content: PROMPT }] }),
      JSON.stringify({
        model: 'chat-cohere',
        messages: [{ role: 'user', content: PROMPT }],
        tools: PROMPT,
      }),
    ])
      await fetch(baseUrl + path, { method: 'POST', headers, body }).then((answer) => answer.text())
  await ask(baseUrl, `/usage?from=${SECRETS[1]}`, { secret })
  await ask(baseUrl, `/prompts/${SECRETS[1]}`, { secret })
  assertClean('refused requests')
})
