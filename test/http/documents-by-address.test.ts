// deep: every format of a client over every format of an upstream
/**
 * Documents by their addresses, in every format of a client over upstreams of every format, over real sockets: the
 * upstream gets the document and never the address, and what is no public document costs nothing.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import {
  startSandboxUpstream,
  type SandboxUpstream,
} from '../../src/sandbox/upstream/start-sandbox-upstream.ts'
import { ask, BY_OPERATOR, type Asked } from '../harness/ask.ts'
import { assertMessagesRefusal, assertRefusal, assertSpoken } from '../harness/assert-answer.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { assertUntouched, configured, theOutcome } from '../harness/media-calls.ts'
import { startPublicFiles, type PublicFiles } from '../harness/public-files.ts'
import { seedCustomer } from '../harness/test-database.ts'

const MIB = 1024 * 1024
const PDF = Buffer.from(`%PDF-1.7\n${'a page of a document '.repeat(100)}`)
const NOTES = 'Notas da reunião: a catraca gira.'
const HOST = 'http://files.example.com'
const AT = `${HOST}/relatorio.pdf`

/** What stands at each path of the public host: its type and content. */
const FILES: Readonly<Record<string, readonly [type: string, content: Buffer]>> = {
  '/relatorio.pdf': ['application/pdf', PDF],
  '/sem-tipo': ['application/octet-stream', PDF],
  '/notas.md': ['text/plain; charset=utf-8', Buffer.from(NOTES)],
  '/som.pdf': ['application/pdf', Buffer.from('ID3\x04 a sound')],
  '/som-sem-tipo.pdf': ['application/octet-stream', Buffer.from('OggS a sound')],
  '/som-de-telefone.pdf': ['application/pdf', Buffer.from('\0\0\0\x20ftypM4A a sound', 'latin1')],
  '/som-declarado.pdf': ['audio/mpeg', Buffer.from('no known mark')],
  '/filme.pdf': ['application/pdf', Buffer.from('\0\0\0\x20ftypmp42 a film', 'latin1')],
  '/programa': ['application/octet-stream', Buffer.from('MZ a program')],
}

/** The text at `/muda.txt`. */
let changing = ''

function answerFile(target: string, response: ServerResponse, port: number): void {
  const [path = ''] = target.split('?')
  const redirects: Readonly<Record<string, string>> = {
    '/mudou': AT,
    '/para-dentro.pdf': `http://127.0.0.1:${port}/relatorio.pdf`,
    '/para-um-nome.pdf': `http://inside.example.com/relatorio.pdf`,
    '/para-os-metadados.pdf': 'http://169.254.169.254/latest/meta-data',
  }
  const location = redirects[path]
  if (location) return void response.writeHead(302, { location }).end()
  if (path === '/enorme.pdf')
    return void response.writeHead(200, { 'content-length': 51 * MIB }).write('%PDF-1.7')
  if (path === '/sem-fim.pdf') {
    response.writeHead(200, { 'content-type': 'application/pdf' })
    const more = (): void => {
      if (!response.destroyed) response.write(Buffer.alloc(MIB, 'a'), () => setImmediate(more))
    }
    return more()
  }
  if (path === '/muda.txt')
    return void response.writeHead(200, { 'content-type': 'text/plain' }).end(changing)
  if (path === '/devagar.pdf') {
    response.writeHead(200, { 'content-type': 'application/pdf' }).write('%PDF-1.7')
    return
  }
  const file = FILES[path]
  if (file) response.writeHead(200, { 'content-type': file[0] }).end(file[1])
  else response.writeHead(404).end('<p>Nada.</p>')
}

const ROUTES = ['chat', 'messages', 'responses', 'google'] as const
type Route = (typeof ROUTES)[number]

let files: PublicFiles
let sandbox: SandboxUpstream
let gateway: TestGateway
/** The requests that arrived at any upstream. */
const arrived: { path: string; body: string }[] = []

/** Passes on what a sandbox upstream knows, and plays Google. */
async function answerUpstream(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url ?? ''
  const body = await text(request)
  arrived.push({ path, body })
  if (path.includes(':')) {
    const answer = {
      candidates: [{ content: { parts: [{ text: 'Li.' }], role: 'model' }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 2, totalTokenCount: 22 },
    }
    const isStream = path.includes('stream')
    response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' })
    response.end(isStream ? `data: ${JSON.stringify(answer)}\n\n` : JSON.stringify(answer))
    return
  }
  const passed = await fetch(new URL(path, sandbox.baseUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer x', 'x-api-key': 'x' },
    body,
  })
  const type = passed.headers.get('content-type') ?? ''
  response.writeHead(passed.status, { 'content-type': type }).end(await passed.text())
}
const upstream = createServer((request, response) => void answerUpstream(request, response))

before(async () => {
  files = await startPublicFiles(answerFile, { 'inside.example.com': '10.0.0.1' })
  sandbox = await startSandboxUpstream()
  upstream.listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  const origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  const opened = (id: string, kind: string, more: object = {}): object => ({
    id,
    kind,
    base_url: `${origin}/v1`,
    retries: 0,
    breaker: { failures: 0 },
    ...more,
  })
  const key = { api_key_env: 'DOCUMENTS_KEY' }
  const modelOf = (id: string, routes: readonly (readonly [string, string])[]): object => ({
    id,
    category: 'llm',
    prices: { input: 1, output: 2 },
    markup_multiplier: '1.5',
    context_tokens: 200_000,
    max_output_tokens: 4_000,
    routes: routes.map(([upstream, model], index) => ({ upstream, model, priority: index + 1 })),
  })
  gateway = await startGateway({
    ...configured({
      upstreams: [
        opened('chat', 'openai-compatible', { opens_addresses: true }),
        opened('responses', 'openai-compatible', { speaks_responses: true }),
        opened('messages', 'anthropic', key),
        opened('google', 'google', key),
      ],
      models: [
        modelOf('chat', [['chat', 'sandbox-chat']]),
        {
          ...modelOf('narrow', []),
          routes: [{ upstream: 'chat', model: 'sandbox-chat', concurrency_max: 1 }],
        },
        modelOf('responses', [['responses', 'sandbox-chat']]),
        modelOf('messages', [['messages', 'sandbox-chat']]),
        modelOf('google', [['google', 'gemini-2.5-flash']]),
        modelOf('uncounted', [['chat', 'sandbox-no-usage']]),
        modelOf('two', [
          ['chat', 'sandbox-error-500'],
          ['messages', 'sandbox-chat'],
        ]),
      ],
    }),
    DOCUMENTS_KEY: 'a-key',
    RATE_LIMIT_PER_IP: '1000000',
  })
})
after(async () => {
  await gateway?.stop()
  await sandbox.close()
  upstream.closeAllConnections()
  upstream.close()
  await files.close()
})
beforeEach(() => {
  arrived.length = 0
  files.asked.length = 0
})

interface Client {
  readonly path: (model: string, isStream: boolean) => string
  readonly body: (address: string, said?: string) => Record<string, unknown>
  /** The route whose upstream gets the request in the client's own format. */
  readonly native?: Route
  readonly assertRefused: (answer: Asked) => void
}

const user = (...content: object[]): object[] => [{ role: 'user', content }]
const assertOpenAi = (answer: Asked): void => assertRefusal(answer, 400, 'invalid_request')
const chatOf =
  (field: string) =>
  (address: string, said = 'Resuma.'): Record<string, unknown> => ({
    max_tokens: 50,
    messages: user({ type: 'text', text: said }, { type: 'file', file: { [field]: address } }),
  })
const responseOf =
  (field: string) =>
  (address: string, said = 'Resuma.'): Record<string, unknown> => ({
    max_output_tokens: 50,
    input: user({ type: 'input_text', text: said }, { type: 'input_file', [field]: address }),
  })

const CLIENTS: Readonly<Record<string, Client>> = {
  'a chat, in file_data': {
    path: () => '/v1/chat/completions',
    body: chatOf('file_data'),
    assertRefused: assertOpenAi,
  },
  'a chat, in file_url': {
    path: () => '/v1/chat/completions',
    body: chatOf('file_url'),
    assertRefused: assertOpenAi,
  },
  'a response, in file_url': {
    path: () => '/v1/responses',
    body: responseOf('file_url'),
    native: 'responses',
    assertRefused: assertOpenAi,
  },
  'a response, in file_data': {
    path: () => '/v1/responses',
    body: responseOf('file_data'),
    native: 'responses',
    assertRefused: assertOpenAi,
  },
  'a message': {
    path: () => '/v1/messages',
    body: (url, said = 'Resuma.') => ({
      max_tokens: 50,
      messages: user(
        { type: 'text', text: said },
        { type: 'document', source: { type: 'url', url } },
      ),
    }),
    native: 'messages',
    assertRefused: (answer) => assertMessagesRefusal(answer, 400, 'invalid_request'),
  },
  'a content of Gemini': {
    path: (model, isStream) =>
      `/v1beta/models/${model}:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: (fileUri, said = 'Resuma.') => ({
      contents: [
        { parts: [{ text: said }, { fileData: { mimeType: 'application/pdf', fileUri } }] },
      ],
      generationConfig: { maxOutputTokens: 50 },
    }),
    assertRefused({ status, json, text }) {
      assert.deepEqual([status, json?.error?.status], [400, 'INVALID_ARGUMENT'], text)
      assertSpoken(json.error.message)
    },
  },
}

function send(
  { path, body }: Client,
  model: string,
  address: string,
  { isStream = false, secret = gateway.secret, headers = {}, said = 'Resuma.' } = {},
): Promise<Asked> {
  const given = { ...body(address, said), model, ...(isStream ? { stream: true } : {}) }
  const { origin } = new URL(gateway.node.baseUrl)
  const options = { secret, headers, body: given }
  return ask(origin, path(model, isStream), options)
}

/** Where the document stands in a request to an upstream: its type, its content and its name. */
function documentOf({ path, body }: { path: string; body: string }): readonly unknown[] {
  const sent = JSON.parse(body)
  const split = (url: string): string[] => url.slice('data:'.length).split(';base64,')
  if (path.endsWith('/chat/completions')) {
    const { file_data: url, filename } = sent.messages[0].content[1].file
    return [...split(url), filename]
  }
  if (path.endsWith('/responses')) {
    const { type: _, file_data: url, filename, ...others } = sent.input[0].content[1]
    assert.deepEqual(others, {})
    return [...split(url), filename]
  }
  if (path.endsWith('/messages')) {
    const { source } = sent.messages[0].content[1]
    assert.equal(source.type, source.media_type === 'text/plain' ? 'text' : 'base64')
    return [source.media_type, source.data]
  }
  const { mimeType, data } = sent.contents[0].parts[1].inlineData
  return [mimeType, data]
}

const base64 = PDF.toString('base64')

for (const [name, client] of Object.entries(CLIENTS))
  test(`a document by its address reaches every upstream as the document: ${name}`, async () => {
    for (const route of ROUTES)
      for (const isStream of [false, true]) {
        arrived.length = 0
        const answer = await send(client, route, AT, { isStream })
        assert.equal(answer.status, 200, `${route}: ${answer.text}`)
        const { outcome, usage_kind: kind } = await theOutcome(gateway, answer.requestId)
        assert.deepEqual([outcome, kind], ['charged', 'exact'], route)
        const [sent, ...more] = arrived
        assert.ok(sent && more.length === 0)
        assert.ok(!sent.body.includes('files.example.com'), sent.body.slice(0, 300))
        const [type, data, filename = 'document.pdf'] = documentOf(sent)
        assert.deepEqual([type, data, filename], ['application/pdf', base64, 'document.pdf'], route)
        if (client.native === route) assert.ok(sent.path.endsWith(`/${route}`), sent.path)
      }
    assert.equal(files.asked.length, ROUTES.length * 2)
  })

test('its type is that of its first bytes, else what its host says, and redirects are followed', async () => {
  for (const [name, client] of Object.entries(CLIENTS))
    for (const [path, type, data] of [
      ['/sem-tipo', 'application/pdf', base64],
      ['/mudou', 'application/pdf', base64],
      ['/notas.md', 'text/plain', Buffer.from(NOTES).toString('base64')],
    ] as const)
      for (const route of ROUTES) {
        arrived.length = 0
        const { status, text } = await send(client, route, HOST + path)
        assert.equal(status, 200, `${name} ${route} ${path}: ${text}`)
        const [found, content] = documentOf(arrived[0] as { path: string; body: string })
        const isText = route === 'messages' && type === 'text/plain'
        assert.deepEqual([found, content], [type, isText ? NOTES : data], `${name} ${route}`)
      }
})

const REFUSED = [
  'http://inside.example.com/relatorio.pdf',
  ...Object.keys(FILES)
    .filter((path) => /som|filme|programa/.test(path))
    .map((path) => HOST + path),
  ...['/para-dentro.pdf', '/para-um-nome.pdf', '/para-os-metadados.pdf', '/nada.pdf'].map(
    (path) => HOST + path,
  ),
  `${HOST}/enorme.pdf`,
]

for (const [place, [name, client]] of Object.entries(CLIENTS).entries())
  test(`what is no public document is refused before any upstream, and not charged: ${name}`, async () => {
    for (const [number, address] of REFUSED.entries())
      for (const isStream of [false, true]) {
        const route = ROUTES[(place + number + Number(isStream)) % ROUTES.length] as Route
        const answer = await send(client, route, address, { isStream })
        client.assertRefused(answer)
        assert.match(answer.text, /endereço/, address)
        assert.ok(!answer.text.includes('example.com'))
        const { outcome, cost_billed_nano_brl: billed } = await theOutcome(
          gateway,
          answer.requestId,
        )
        assert.deepEqual([outcome, billed], ['released', 0n], address)
      }
    assert.deepEqual(arrived, [])
    assert.ok(files.asked.every((one) => one.startsWith('files.example.com/')))
    // What is private as it stands is refused before a hold.
    const before = files.asked.length
    for (const address of [`http://127.0.0.1:${files.port}/relatorio.pdf`, 'https://db.local/x']) {
      const answer = await send(client, 'chat', address)
      client.assertRefused(answer)
      await assertUntouched(gateway, [answer.requestId])
    }
    assert.equal(files.asked.length, before)
    await untilNoHoldIsOpen(gateway.database)
  })

const CHAT = CLIENTS['a chat, in file_data'] as Client
const MESSAGE = CLIENTS['a message'] as Client
const fileAt = (file_data: string): object => ({ type: 'file', file: { file_data } })

test('a request opens at most twenty addresses, and 20 MB of documents', async () => {
  const { baseUrl, secret } = { ...gateway, baseUrl: gateway.node.baseUrl }
  const chat = (...content: object[]): Promise<Asked> =>
    ask(baseUrl, '/chat/completions', {
      secret,
      body: { model: 'google', max_tokens: 50, messages: user(...content) },
    })
  const twenty = await chat(...Array.from({ length: 20 }, () => fileAt(AT)))
  assert.equal(twenty.status, 200, twenty.text)
  assertOpenAi(await chat(...Array.from({ length: 21 }, () => fileAt(AT))))
  // Its host does not say how large it is.
  assertOpenAi(await chat(fileAt(AT), fileAt(`${HOST}/sem-fim.pdf`)))
  assert.equal(arrived.length, 1)
})

test('a document in the result of a tool arrives there in the formats that have it', async () => {
  const { origin } = new URL(gateway.node.baseUrl)
  const call = { type: 'function_call', call_id: 'c', name: 'ler', arguments: '{}' }
  const use = { type: 'tool_use', id: 'c', name: 'ler', input: {} }
  const source = { type: 'url', url: AT }
  const bodies: Readonly<Record<string, object>> = {
    responses: {
      max_output_tokens: 50,
      input: [
        { role: 'user', content: 'Leia.' },
        call,
        {
          type: 'function_call_output',
          call_id: 'c',
          output: [{ type: 'input_file', file_url: AT, filename: 'lido.pdf' }],
        },
      ],
    },
    messages: {
      max_tokens: 50,
      messages: [
        { role: 'user', content: 'Leia.' },
        { role: 'assistant', content: [use] },
        ...user({ type: 'tool_result', tool_use_id: 'c', content: [{ type: 'document', source }] }),
      ],
    },
  }
  for (const [format, body] of Object.entries(bodies))
    for (const model of ROUTES) {
      arrived.length = 0
      const options = { secret: gateway.secret, body: { model, ...body } }
      const answer = await ask(origin, `/v1/${format}`, options)
      assert.equal(answer.status, 200, `${format} ${model} ${answer.text}`)
      const [sent] = arrived
      assert.equal(sent?.body.split(base64).length, 2, `${format} ${model}`)
      assert.ok(!sent.body.includes('files.example.com'))
      if (format !== model) continue
      const { input, messages } = JSON.parse(sent.body)
      const [part] = input ? input[2].output : messages[2].content[0].content
      assert.deepEqual(
        part,
        input
          ? {
              type: 'input_file',
              filename: 'lido.pdf',
              file_data: `data:application/pdf;base64,${base64}`,
            }
          : {
              type: 'document',
              source: { type: 'base64', media_type: 'application/pdf', data: base64 },
            },
      )
    }
})

test('a stored response goes on with the document, which is opened again', async () => {
  const { db } = gateway.database
  const { customerId, secret } = await seedCustomer(db, { balanceBrl: '100' })
  await sql`update customers set stored_responses_days = 7 where id = ${customerId}`.execute(db)
  const { baseUrl } = gateway.node
  for (const model of ['responses', 'chat']) {
    const body = { ...responseOf('file_url')(AT), model, store: true }
    const first = await ask(baseUrl, '/responses', { secret, body })
    assert.equal(first.status, 200, first.text)
    arrived.length = 0
    const more = { model, input: 'E depois?', previous_response_id: first.json.id }
    const second = await ask(baseUrl, '/responses', { secret, body: more })
    assert.equal(second.status, 200, second.text)
    assert.equal(documentOf(arrived[0] as { path: string; body: string })[1], base64)
    const { text: items } = await ask(baseUrl, `/responses/${first.json.id}/input_items`, {
      secret,
    })
    assert.ok(items.includes(AT) && !items.includes(base64), items.slice(0, 300))
  }
})

test('a document that is refused is asked for once, whatever routes and fallback models there are', async () => {
  const body = { ...CHAT.body(`${HOST}/som.pdf`), model: 'two', models: ['google', 'responses'] }
  const { baseUrl } = gateway.node
  assertOpenAi(await ask(baseUrl, '/chat/completions', { secret: gateway.secret, body }))
  assert.equal(files.asked.length, 1)
  assert.deepEqual(arrived, [])
})

test('the next route gets the document, too', async () => {
  const answer = await send(CHAT, 'two', AT)
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(
    arrived.map(({ path }) => path),
    ['/v1/chat/completions', '/v1/messages'],
  )
  for (const sent of arrived) assert.equal(documentOf(sent)[1], base64)
})

test('an upstream that counts nothing is paid as for the document itself', async () => {
  const estimates = await Promise.all(
    [AT, `data:application/pdf;base64,${base64}`].map(async (file) => {
      const answer = await send(CHAT, 'uncounted', file)
      assert.equal(answer.status, 200, answer.text)
      const event = await theOutcome(gateway, answer.requestId)
      assert.equal(event.usage_kind, 'estimated')
      return event.prompt_tokens
    }),
  )
  const [byAddress, inline] = estimates as [number, number]
  assert.ok(inline > base64.length / 5)
  assert.ok(Math.abs(byAddress - inline) < 50, `${byAddress} and ${inline}`)
})

test('a count of tokens opens no address, and takes a document there for some pages', async () => {
  const { max_tokens: _, ...body } = MESSAGE.body(AT)
  const { baseUrl } = gateway.node
  const options = { secret: gateway.secret, body: { ...body, model: 'messages' } }
  const { status, json, text } = await ask(baseUrl, '/messages/count_tokens', options)
  assert.equal(status, 200, text)
  assert.ok(json.input_tokens > 10_000 && json.input_tokens < 50_000, text)
  assert.deepEqual(files.asked, [])
})

test('an equal call is answered from the cache while the document at the address is the same', async () => {
  const headers = { 'x-svc-cache': '60' }
  const servedBy = async (): Promise<unknown> =>
    (await send(CHAT, 'chat', `${HOST}/muda.txt`, { headers })).headers.get('x-svc-cache')
  changing = 'um'
  assert.deepEqual([await servedBy(), await servedBy()], ['miss', 'hit'])
  changing = 'outro'
  assert.equal(await servedBy(), 'miss')
})

test('a slow document holds no place at its route, and is not read on for a client that left', async () => {
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '50' })
  const leaving = new AbortController()
  const body = JSON.stringify({ model: 'narrow', ...CHAT.body(`${HOST}/devagar.pdf`) })
  const { baseUrl } = gateway.node
  const slow = fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body,
    signal: leaving.signal,
  })
  const left = assert.rejects(slow)
  while (files.asked.length === 0) await sleep(10)
  const other = await ask(baseUrl, '/chat/completions', {
    secret: gateway.secret,
    body: { model: 'narrow', max_tokens: 5, messages: user({ type: 'text', text: 'Oi' }) },
  })
  assert.equal(other.status, 200, other.text)
  leaving.abort()
  await left
  const since = performance.now()
  await untilNoHoldIsOpen(gateway.database)
  assert.ok(performance.now() - since < 5_000)
  assert.equal(arrived.length, 1, 'nothing of the slow call')
})

test('the shield reads a document by its address no more than any other, and its address never leaves', async () => {
  const { baseUrl } = gateway.node
  const created = await ask(baseUrl, '/api-keys', {
    secret: gateway.secret,
    body: {
      name: 'com escudo',
      model_ids: [...ROUTES],
      shield: { action: 'mask', uuids: 'near_pix' },
    },
  })
  assert.equal(created.status, 201, created.text)
  const { key: secret } = created.json
  for (const [name, client] of Object.entries(CLIENTS))
    for (const route of ROUTES) {
      arrived.length = 0
      const address = `${AT}?cpf=52998224725`
      const answer = await send(client, route, address, { secret, said: 'CPF 529.982.247-25?' })
      assert.equal(answer.status, 200, `${name} ${route} ${answer.text}`)
      const sent = arrived[0] as { path: string; body: string }
      assert.equal(documentOf(sent)[1], base64)
      assert.ok(!/52998224725|529\.982|files\.example/.test(sent.body), `${name} ${route}`)
      assert.ok(/CPF1/.test(sent.body), `${name} ${route}`)
    }
})

test('no byte of a document is kept, and every balance adds up', async () => {
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
  const metrics = await ask(new URL(gateway.node.baseUrl).origin, '/metrics', BY_OPERATOR)
  assert.match(metrics.text, /^catraca_body_bytes 0$/m)
})
