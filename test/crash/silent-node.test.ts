// deep: processes that are killed
/** SIGSTOP stops a node with calls in flight for longer than its lease, beside a node that keeps running. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { decimalBrl } from '../../src/platform/lib/money.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { startTestNode, type TestNode } from '../harness/test-node.ts'
import { assertAudit } from '../harness/assert-audit.ts'

const CALLS = 4
/** The usage of the model's answer, plain or streamed. */
const COMPLETION_TOKENS = 40
const USAGE = { prompt_tokens: 20, completion_tokens: COMPLETION_TOKENS, total_tokens: 60 }
const RESOLVED_MS_MAX = 60_000

let folder: string
let database: TestDatabase
let upstream: Server
/** Answers that wait for `finishUpstream`. */
let unfinished: (() => void)[] = []
let silent: TestNode
let alive: TestNode

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'catraca-silent-'))
  database = await createTestDatabase()
  upstream = createServer((request, response) => {
    let body = ''
    request.on('data', (bytes) => (body += String(bytes)))
    request.on('end', () => {
      if ((JSON.parse(body) as { stream?: boolean }).stream) beginStream(response)
      else unfinished.push(() => response.end(JSON.stringify(plainAnswer())))
    })
  })
  upstream.listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  const config = join(folder, 'catraca.config.json')
  const { port } = upstream.address() as AddressInfo
  await writeFile(
    config,
    JSON.stringify({
      upstreams: [
        { id: 'slow', kind: 'openai-compatible', base_url: `http://127.0.0.1:${port}/v1` },
      ],
      models: [
        {
          id: 'slow-model',
          category: 'llm',
          prices: { input: 1, output: 2 },
          routes: [{ upstream: 'slow', model: 'slow-model' }],
          context_tokens: 8_192,
          max_output_tokens: 256,
        },
      ],
    }),
  )
  const options = { databaseUrl: database.databaseUrl, env: { CATRACA_CONFIG: config } }
  ;[silent, alive] = await Promise.all([startTestNode(options), startTestNode(options)])
})

after(async () => {
  silent.process.kill('SIGCONT')
  await Promise.all([silent, alive].map((node) => node.stop('SIGKILL').then(() => node.remove())))
  upstream.closeAllConnections()
  upstream.close()
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

function plainAnswer(): object {
  const message = { role: 'assistant', content: 'palavra '.repeat(COMPLETION_TOKENS) }
  return { id: 'x', choices: [{ index: 0, message, finish_reason: 'stop' }], usage: USAGE }
}

/** Sends a few words at once, and the rest when the test finishes the answer. */
function beginStream(response: ServerResponse): void {
  const say = (chunk: object): void => void response.write(`data: ${JSON.stringify(chunk)}\n\n`)
  const word = (): void => say({ choices: [{ index: 0, delta: { content: 'palavra ' } }] })
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (let count = 0; count < 10; count += 1) word()
  unfinished.push(() => {
    for (let count = 10; count < COMPLETION_TOKENS; count += 1) word()
    say({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
    say({ choices: [], usage: USAGE })
    response.end('data: [DONE]\n\n')
  })
}

interface Received {
  readonly requestId: string
  readonly isStream: boolean
  readonly status: number
  readonly text: string
}

async function ask(secret: string, isStream: boolean): Promise<Received> {
  const requestId = randomUUID()
  const answer = await fetch(`${silent.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      'x-svc-request-id': requestId,
    },
    body: JSON.stringify({
      model: 'slow-model',
      messages: [{ role: 'user', content: 'Oi' }],
      ...(isStream && { stream: true, stream_options: { include_usage: true } }),
    }),
  })
  return { requestId, isStream, status: answer.status, text: await answer.text() }
}

async function chargedFor(requestId: string): Promise<bigint> {
  const { rows } = await sql<{ billed: bigint }>`
    select coalesce(sum(cost_billed_nano_brl), 0)::int8 as billed from usage_events
    where request_id = ${requestId}`.execute(database.db)
  return rows[0]?.billed ?? 0n
}

async function untilHolds(count: number): Promise<void> {
  for (const deadline = Date.now() + RESOLVED_MS_MAX; ; await sleep(200)) {
    const { rows } = await sql`select from holds`.execute(database.db)
    if (rows.length === count) return
    assert.ok(Date.now() < deadline, `${rows.length} holds are open`)
  }
}

/** One call whose answer the upstream finishes at once. */
async function answered(secret: string): Promise<Received> {
  const asked = ask(secret, false)
  await untilSent([asked])
  unfinished.shift()?.()
  const received = await asked
  assert.equal(received.status, 200, received.text)
  return received
}

/** Waits until every call is held and sent. A call that is answered before that fails the test at once. */
async function untilSent(asked: readonly Promise<Received>[]): Promise<void> {
  let early: Received | undefined
  for (const call of asked) void call.then((received) => (early ??= received))
  while (unfinished.length < asked.length) {
    assert.equal(early, undefined, JSON.stringify(early))
    await sleep(20)
  }
  await untilHolds(asked.length)
}

test('an answer that a silent node delivers after other nodes resolved its holds is charged, and an uncharged answer is not delivered', async () => {
  const { secret } = await seedCustomer(database.db, { balanceBrl: '100' })
  await answered(secret)
  const asked = [...Array.from({ length: CALLS * 2 }).keys()].map((place) =>
    ask(secret, place % 2 === 0),
  )
  await untilSent(asked)
  // The clients have the first words, and their checkpoints are stored.
  await sleep(1_500)
  silent.process.kill('SIGSTOP')
  await untilHolds(0)
  for (const finish of unfinished) finish()
  unfinished = []
  silent.process.kill('SIGCONT')

  const received = await Promise.all(asked)
  await sleep(2_000)
  for (const { requestId, isStream, status, text } of received) {
    const charged = await chargedFor(requestId)
    const shown = /"cost_billed_brl":([\d.]+)/.exec(text)?.[1]
    if (shown !== undefined) assert.equal(decimalBrl(charged), shown, `${isStream}: ${text}`)
    else if (!isStream) assert.deepEqual([status, charged], [503, 0n])
    else {
      assert.match(text, /"error"/)
      assert.ok(!text.includes('[DONE]'))
      assert.ok(charged > 0n, 'the words that were delivered are paid for')
    }
  }
  assert.ok(received.some(({ text }) => !text.includes('"cost_billed_brl"')))
  await assertAudit(database)

  // The resumed node serves calls again, under a new node id.
  const { requestId, text } = await answered(secret)
  assert.ok(text.includes(`"cost_billed_brl":${decimalBrl(await chargedFor(requestId))}`))
})
