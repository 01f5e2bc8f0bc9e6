/** Tests each fault of a model at each endpoint other than chats. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startSandboxUpstream, type SandboxUpstream } from './start-sandbox-upstream.ts'

const upstream = await startSandboxUpstream()
after(() => upstream.close())

const BOUNDARY = 'fronteira'

interface Endpoint {
  readonly path: string
  readonly contentType: string
  readonly write: (model: string) => string
}

const ENDPOINTS: Endpoint[] = [
  {
    path: '/embeddings',
    contentType: 'application/json',
    write: (model) => JSON.stringify({ model, input: 'texto' }),
  },
  {
    path: '/images/generations',
    contentType: 'application/json',
    write: (model) => JSON.stringify({ model, prompt: 'um degradê', size: '32x32' }),
  },
  { path: '/audio/transcriptions', ...form((model, file) => file + model) },
  { path: '/audio/transcriptions', ...form((model, file) => model + file) },
]

/** Clients send the model before or after the file. */
function form(order: (model: string, file: string) => string): Omit<Endpoint, 'path'> {
  const part = (disposition: string, value: string) =>
    `--${BOUNDARY}\r\ncontent-disposition: form-data; ${disposition}\r\n\r\n${value}\r\n`
  const file = part('name="file"; filename="a.mp3"', `ID3 ${'som '.repeat(10_000)}`)
  return {
    contentType: `multipart/form-data; boundary=${BOUNDARY}`,
    write: (model) => `${order(part('name="model"', model), file)}--${BOUNDARY}--\r\n`,
  }
}

function post(
  { path, contentType, write }: Endpoint,
  model: string,
  init: RequestInit & { to?: SandboxUpstream } = {},
): Promise<Response> {
  const { to = upstream, ...rest } = init
  const headers = { 'content-type': contentType }
  return fetch(to.baseUrl + path, { method: 'POST', body: write(model), headers, ...rest })
}

/** The raw bytes of the answer until the server closes the connection. */
async function postRaw({ path, contentType, write }: Endpoint, model: string): Promise<Buffer> {
  const text = write(model)
  const socket = connect(Number(new URL(upstream.baseUrl).port), '127.0.0.1')
  const head = `host: s\r\nconnection: close\r\ncontent-type: ${contentType}`
  const length = `content-length: ${Buffer.byteLength(text)}`
  socket.write(`POST /v1${path} HTTP/1.1\r\n${head}\r\n${length}\r\n\r\n${text}`)
  const parts: Buffer[] = []
  for await (const part of socket) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

async function waitFor(isTrue: () => boolean, what: string): Promise<void> {
  for (let turn = 0; turn < 3_000 && !isTrue(); turn++) await delay(10)
  assert.ok(isTrue(), what)
}

for (const [index, endpoint] of ENDPOINTS.entries()) {
  const where = `${endpoint.path}${index === 3 ? ', model first' : ''}`
  describe(where, { concurrency: true }, () => {
    for (const status of [400, 401, 429, 500, 503]) {
      test(`sandbox-error-${status} answers with a provider's refusal`, async () => {
        const response = await post(endpoint, `any/sandbox-error-${status}`)
        assert.equal(response.status, status)
        assert.equal(response.headers.get('retry-after'), status === 429 ? '1' : null)
        assert.equal(response.headers.get('openai-organization'), 'org-sandbox')
        assert.match(await response.text(), /^\{"error":\{"message":.*zephyrion/i)
      })
    }

    test('sandbox-html-error answers 502 with a page', async () => {
      const response = await post(endpoint, 'sandbox-html-error')
      assert.equal(response.status, 502)
      assert.equal(response.headers.get('content-type'), 'text/html')
      assert.match(await response.text(), /^<html>/)
    })

    test('sandbox-flaky fails every second call', async (context) => {
      const own = await startSandboxUpstream()
      context.after(() => own.close())
      const statuses: number[] = []
      for (let turn = 0; turn < 4; turn++) {
        const response = await post(endpoint, 'sandbox-flaky', { to: own })
        await response.text()
        statuses.push(response.status)
      }
      assert.deepEqual(statuses, [200, 500, 200, 500])
      assert.equal(own.counts.completed, 2)
      assert.equal(own.counts.refused, 2)
    })

    test('sandbox-garbage answers 200 with a body that cannot be parsed', async () => {
      const response = await post(endpoint, 'sandbox-garbage')
      assert.equal(response.status, 200)
      await assert.rejects(response.json(), SyntaxError)
    })

    test('sandbox-error-in-stream answers 200 with an error', async () => {
      const response = await post(endpoint, 'sandbox-error-in-stream')
      assert.equal(response.status, 200)
      assert.match(await response.text(), /^\{"error":\{"message":"Zephyrion/)
    })

    test('sandbox-cut-stream drops the connection half-way', async () => {
      const answer = await postRaw(endpoint, 'sandbox-cut-stream')
      assert.match(answer.toString(), /^HTTP\/1\.1 200/)
      const promised = Number(/content-length: (\d+)/.exec(answer.toString())?.[1])
      const sent = answer.length - answer.indexOf('\r\n\r\n') - 4
      assert.ok(sent > 0 && sent < promised, `${sent} of ${promised}`)
    })

    test('sandbox-split arrives in odd parts and is correct', async () => {
      const [split, whole] = await Promise.all(
        ['sandbox-split', 'sandbox-chat'].map((model) => post(endpoint, model)),
      )
      const readStable = async (response: Response | undefined) => {
        const body = (await response?.json()) as Record<string, unknown>
        return { ...body, model: '', created: 0 }
      }
      assert.deepEqual(await readStable(split), await readStable(whole))
    })

    test('sandbox-no-usage reports no usage', async () => {
      const response = await post(endpoint, 'sandbox-no-usage')
      assert.equal(response.status, 200)
      assert.doesNotMatch(await response.text(), /"usage"|_tokens/)
    })

    for (const model of ['sandbox-stall', 'sandbox-hang']) {
      test(`${model} sends nothing more until the client leaves, which is counted`, async (context) => {
        const own = await startSandboxUpstream()
        context.after(() => own.close())
        const leaving = new AbortController()
        const call = post(endpoint, model, { to: own, signal: leaving.signal })
        const isStall = model === 'sandbox-stall'
        const first = isStall ? await call : await Promise.race([call, delay(200)])
        assert.equal(first?.status, isStall ? 200 : undefined)
        if (first !== undefined) {
          const reader = (first.body as ReadableStream<Uint8Array>).getReader()
          assert.equal((await reader.read()).done, false)
          const more = await Promise.race([reader.read().catch(() => 'left'), delay(200)])
          assert.equal(more, undefined)
        }
        assert.equal(own.counts.aborted, 0)
        leaving.abort()
        await call.catch(() => {})
        await waitFor(() => own.counts.aborted === 1, 'the abort is counted')
      })
    }

    test('the counts have the outcome of each call', async (context) => {
      const own = await startSandboxUpstream()
      context.after(() => own.close())
      const names = ['chat', 'error-429', 'garbage', 'cut-stream', 'error-in-stream', 'no-usage']
      for (const name of names) {
        const headers = { 'content-type': endpoint.contentType, 'x-catraca-call-id': name }
        const response = await post(endpoint, `sandbox-${name}`, { to: own, headers })
        await response.text().catch(() => {})
      }
      const { requests, completed, refused, broken, aborted, calls } = own.counts
      assert.deepEqual([requests, completed, refused, broken, aborted], [6, 2, 1, 3, 0])
      assert.deepEqual(
        Array.from(calls, ([id, call]) => [id, call.started, call.completed]),
        names.map((name) => [name, 1, name === 'chat' || name === 'no-usage' ? 1 : 0]),
      )
    })
  })
}
