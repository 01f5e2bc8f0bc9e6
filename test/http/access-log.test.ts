// deep: starts processes
/** The access log of a real server: one line for each request, and in none of them anything of a person. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { PROGRAM_VERSION } from '../../src/app/program-version.ts'
import { BY_OPERATOR, ask, askChat, sound } from '../harness/ask.ts'
import { beginRequest } from '../harness/half-request.ts'
import { startOtlpCollector, type OtlpCollector } from '../harness/otlp-collector.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { startTestNode, type TestNode } from '../harness/test-node.ts'

const BUILD = 'build-of-the-test'
const SESSION = 'uma-sessao-de-alguem'
const MS_MAX = 60_000

let collector: OtlpCollector
let database: TestDatabase
let node: TestNode
let owner: { secret: string; customerId: string }

before(async () => {
  collector = await startOtlpCollector()
  database = await createTestDatabase()
  node = await startTestNode({
    databaseUrl: database.databaseUrl,
    env: {
      ACCESS_LOG: 'stdout',
      CATRACA_BUILD: BUILD,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    },
    keepsOutput: true,
  })
  owner = await seedCustomer(database.db, { balanceBrl: '100' })
})

after(async () => {
  await node?.stop()
  await node?.remove()
  await database?.drop()
  collector?.close()
})

interface Line {
  readonly time: string
  readonly method: string
  readonly route: string | null
  readonly status: number | null
  readonly isComplete: boolean
  readonly durationMs: number
  readonly bytes: number
  readonly requestId: string
  readonly traceId: string | null
  readonly keyId: string | null
}

function linesOf(requestId: string): Line[] {
  return node.output
    .filter((line) => line.startsWith('{') && line.includes(requestId))
    .map((line) => JSON.parse(line) as Line)
}

/** Exactly one line: a second one would be there soon after it, or by the end of the tests. */
async function lineOf(requestId: string): Promise<Line> {
  for (const deadline = Date.now() + MS_MAX; linesOf(requestId).length === 0; await sleep(20))
    assert.ok(Date.now() < deadline, `no line of ${requestId}`)
  const lines = linesOf(requestId)
  assert.equal(lines.length, 1)
  return lines[0] as Line
}

async function keyIdOf(customerId: string): Promise<string> {
  const { id } = await database.db
    .selectFrom('api_keys')
    .select('id')
    .where('customer_id', '=', customerId)
    .executeTakeFirstOrThrow()
  return id
}

test('a call, plain and streamed, has its route, status, duration, bytes, key and trace', async () => {
  const keyId = await keyIdOf(owner.customerId)
  for (const stream of [false, true]) {
    const call = await askChat(node.baseUrl, owner.secret, sound('sandbox-chat', { stream }))
    assert.equal(call.status, 200)
    const line = await lineOf(call.requestId)
    assert.deepEqual(Object.keys(line), [
      'time',
      'method',
      'route',
      'status',
      'isComplete',
      'durationMs',
      'bytes',
      'requestId',
      'traceId',
      'keyId',
    ])
    assert.deepEqual(
      [line.method, line.route, line.status, line.isComplete, line.keyId],
      ['POST', '/v1/chat/completions', 200, true, keyId],
    )
    assert.ok(line.durationMs > 0)
    assert.ok(line.bytes > call.text.length)
    assert.match(line.traceId ?? '', /^[0-9a-f]{32}$/)
  }
})

test('a refused call names the key that was recognised, and no other', async () => {
  const poor = await seedCustomer(database.db, { balanceBrl: '0.000001' })
  const refused = await askChat(node.baseUrl, poor.secret, sound())
  assert.equal(refused.status, 402)
  const line = await lineOf(refused.requestId)
  assert.deepEqual([line.status, line.keyId], [402, await keyIdOf(poor.customerId)])
  const wrong = await askChat(node.baseUrl, 'sk-of-nobody', sound())
  assert.equal(wrong.status, 401)
  const { status, keyId, traceId } = await lineOf(wrong.requestId)
  assert.deepEqual([status, keyId, traceId], [401, null, null])
})

test('a path is its template, without the values in it and without its query', async () => {
  const path = `/me/sessions/${SESSION}?days=3&email=ana@example.com`
  const asked = await ask(node.baseUrl, path, { secret: owner.secret })
  assert.equal(asked.status, 404)
  const line = await lineOf(asked.requestId)
  assert.equal(line.route, '/v1/me/sessions/:id')
  assert.equal(line.keyId, await keyIdOf(owner.customerId))
  const unknown = await ask(node.baseUrl, `/people/${SESSION}`)
  assert.equal(unknown.status, 404)
  assert.equal((await lineOf(unknown.requestId)).route, null)
  const malformed = await ask(node.baseUrl, '/me/sessions/%zz', { secret: owner.secret })
  assert.ok(malformed.status >= 400)
  await lineOf(malformed.requestId)
  assert.ok(node.output.every((text) => !text.includes(SESSION)))
})

test('a client that leaves in the middle of an answer has a line that says so', async () => {
  const body = JSON.stringify(sound('sandbox-long', { stream: true }))
  const requestId = randomUUID()
  const socket = connect(node.port, '127.0.0.1')
  const head = [
    'POST /v1/chat/completions HTTP/1.1',
    'host: test',
    `authorization: Bearer ${owner.secret}`,
    `x-svc-request-id: ${requestId}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  await new Promise((resolve) => socket.once('data', resolve))
  socket.destroy()
  const line = await lineOf(requestId)
  assert.deepEqual([line.status, line.isComplete], [200, false])
  const early = beginRequest(node.baseUrl, '/chat/completions', {
    secret: owner.secret,
    bytes: 1_000,
  })
  await early.send('{"model":')
  const before = node.output.length
  early.leave()
  const left = (): boolean =>
    node.output.slice(before).some((text) => text.includes('"isComplete":false'))
  for (const deadline = Date.now() + MS_MAX; !left(); await sleep(20))
    assert.ok(Date.now() < deadline, 'no line of a client that left before its body')
})

test('pipelined requests have a line each, whose bytes are those of their own answer', async () => {
  const ids = [randomUUID(), randomUUID(), randomUUID()]
  const requestOf = (id: string, path: string, more = ''): string =>
    `GET ${path} HTTP/1.1\r\nhost: test\r\nx-svc-request-id: ${id}\r\n${more}\r\n`
  const socket = connect(node.port, '127.0.0.1')
  let bytes = 0
  socket.on('data', (part) => (bytes += part.length))
  socket.write(
    requestOf(ids[0] as string, '/v1/models') +
      requestOf(ids[1] as string, '/v1/healthz') +
      requestOf(ids[2] as string, '/v1/models', 'connection: close\r\n'),
  )
  await new Promise((resolve) => socket.once('close', resolve))
  const lines = await Promise.all(ids.map(lineOf))
  assert.deepEqual(
    lines.map(({ route }) => route),
    ['/v1/models', '/v1/healthz', '/v1/models'],
  )
  assert.equal(
    lines.reduce((sum, line) => sum + line.bytes, 0),
    bytes,
  )
  assert.ok((lines[1] as Line).bytes < (lines[0] as Line).bytes)
})

test('no line has an address, a key or a word of a request', () => {
  const lines = node.output.filter((line) => line.startsWith('{'))
  assert.ok(lines.length >= 9)
  for (const line of lines)
    for (const text of ['127.0.0.1', owner.secret, 'ana@example.com', 'Olá', SESSION])
      assert.ok(!line.includes(text), line)
  const ids = lines.map((line) => (JSON.parse(line) as Line).requestId)
  assert.equal(new Set(ids).size, ids.length)
})

test('a node says its version and build in its row and in its metrics', async () => {
  const rows = await database.db.selectFrom('nodes').select(['version', 'build']).execute()
  assert.deepEqual(rows, [{ version: PROGRAM_VERSION, build: BUILD }])
  const { text } = await ask(node.baseUrl.replace('/v1', ''), '/metrics', BY_OPERATOR)
  const labels = `version="${PROGRAM_VERSION}",build="${BUILD}",node_version="${process.version}"`
  assert.ok(text.includes(`catraca_build_info{${labels}} 1\n`))
  assert.ok(text.includes('catraca_access_lines_lost 0\n'))
})
