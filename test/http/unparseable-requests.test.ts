// deep: requests that no client library sends
/** Requests that are no HTTP, or none that a route sees: their answers have the headers of every answer. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { ask, askChat, sound } from '../harness/ask.ts'
import { assertHeaders, assertNoTrace, assertSpoken } from '../harness/assert-answer.ts'
import { avoidMinuteEnd } from '../harness/avoid-minute-end.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'

const PER_ADDRESS = 5
const REST_PER_ADDRESS = 5_000

let gateway: TestGateway

before(async () => {
  gateway = await startGateway({
    RATE_LIMIT_PER_IP: String(PER_ADDRESS),
    REST_RATE_LIMIT_PER_IP: String(REST_PER_ADDRESS),
  })
})
after(() => gateway.stop())

interface RawAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly askedAtMs: number
}

async function send(bytes: string): Promise<RawAnswer> {
  const askedAtMs = Date.now()
  const socket = connect(gateway.node.port, '127.0.0.1')
  let answer = ''
  socket.on('data', (part) => (answer += String(part)))
  // The server may have answered and closed before it has read everything.
  socket.on('error', () => {})
  socket.write(bytes, 'latin1')
  await once(socket, 'close')
  answer = answer.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '')
  const end = answer.indexOf('\r\n\r\n')
  const [statusLine = '', ...lines] = answer.slice(0, end).split('\r\n')
  const headers = new Headers()
  for (const line of lines) {
    const colon = line.indexOf(':')
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1] ?? NaN)
  // The bytes after a request are another one, with an answer of its own.
  const length = Number(headers.get('content-length') ?? 0)
  const text = Buffer.from(answer.slice(end + 4)).subarray(0, length)
  return { status, headers, text: text.toString(), askedAtMs }
}

const STARTS = [
  'GET /v1/models HTTP/1.1',
  'HEAD /v1/models HTTP/1.1',
  'POST /v1/chat/completions HTTP/1.1',
  'PROPFIND /v1/models HTTP/1.1',
  'FOO /v1/models HTTP/1.1',
  'get /v1/models HTTP/1.1',
  'CONNECT /v1/models HTTP/1.1',
  'PRI * HTTP/2.0',
  'GET /v1/models HTTP/9.9',
  'GET /v1/models HTTX/1.1',
  'GET /v1/models',
  'GET /v1/\u0000 HTTP/1.1',
  'GET /v1/%%%zz HTTP/1.1',
  'bytes of another protocol',
  '\u0016\u0003\u0001\u0002\u0000',
]
const HOSTS = [[], ['Host: a.example'], ['Host: a.example', 'Host: b.example'], ['Host:']]
const FIELDS = [
  [],
  ['Expect: 200-maybe'],
  ['Expect: 100-continue'],
  ['Upgrade: websocket'],
  ['No colon'],
  ['Name : value'],
  ['Name: \u0000'],
  ['Content-Length: x'],
  ['Content-Length: 5', 'Content-Length: 6'],
  ['Content-Length: 5', 'Transfer-Encoding: chunked'],
  ['Transfer-Encoding: chunked, identity'],
  [`X: ${'a'.repeat(20_000)}`],
  ['Content-Type: application/json', 'Content-Length: 4'],
]

test('whatever bytes arrive, the answer has an id and the limits, and names nothing inner', async () => {
  for (const start of STARTS)
    for (const host of HOSTS)
      for (const fields of FIELDS) {
        const head = [start, ...host, ...fields, 'Connection: close'].join('\r\n')
        const answer = await send(`${head}\r\n\r\nnot JSON`)
        const title = JSON.stringify(head.slice(0, 200))
        assert.ok(answer.status >= 200 && answer.status <= 431, `${title}: ${answer.status}`)
        assert.doesNotThrow(() => assertHeaders(answer), title)
        if (answer.status < 400) continue
        assertNoTrace(answer)
        if (answer.text === '') continue
        const { error, details } = JSON.parse(answer.text)
        assert.ok(error, title)
        if (typeof error === 'object') assertSpoken(error.message)
        else if (details !== undefined && answer.status === 400) assertSpoken(details)
      }
})

test('an address without calls left reads 0 in x-ratelimit-remaining, also where nothing is counted', async () => {
  await avoidMinuteEnd(10_000)
  let last = 401
  for (let calls = 0; last === 401 && calls <= PER_ADDRESS; calls++)
    last = (await askChat(gateway.node.baseUrl, 'sk-svc-wrong', sound())).status
  assert.equal(last, 429)
  const read = async () => [
    await ask(gateway.node.baseUrl, '/models'),
    await ask(gateway.node.baseUrl, '/nothing'),
    await send('no HTTP\r\n\r\n'),
  ]
  for (const { headers } of await read()) {
    assert.equal(headers.get('x-ratelimit-limit'), String(PER_ADDRESS))
    assert.equal(headers.get('x-ratelimit-remaining'), '0')
  }
})

test('a REST request beyond its limit shows that limit: none is left, until retry-after', async () => {
  const call = () => ask(gateway.node.baseUrl, '/usage', { secret: 'sk-svc-wrong' })
  let answer = await call()
  for (let tries = 0; answer.status !== 429 && tries < REST_PER_ADDRESS; tries++)
    answer = await call()
  const number = (name: string): number => Number(answer.headers.get(name))
  assert.equal(number('x-ratelimit-limit'), REST_PER_ADDRESS)
  assert.equal(number('x-ratelimit-remaining'), 0)
  const wait = number('x-ratelimit-reset') - answer.askedAtMs / 1_000
  assert.ok(wait >= number('retry-after') && wait < number('retry-after') + 10, String(wait))
})
