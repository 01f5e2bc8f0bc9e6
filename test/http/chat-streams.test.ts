/**
 * Every call ends in one charge or one release, whatever the upstream and the client do. The upstream runs in this
 * process, so that its own count can be compared.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Selectable } from 'kysely'
import type { Tables } from '../../src/platform/db/tables.ts'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { decimalBrl, parseBrl } from '../../src/platform/lib/money.ts'
import { SANDBOX_MODELS } from '../../src/sandbox/upstream/sandbox-models.ts'
import {
  startSandboxUpstream,
  type SandboxUpstream,
} from '../../src/sandbox/upstream/start-sandbox-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { askChat, billedIn, eventsOf, sound, type Asked } from '../harness/ask.ts'
import { assertHeaders, assertNoTrace, assertRefusal } from '../harness/assert-answer.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'

type UsageEvent = Selectable<Tables['usage_events']>

const FIRST_BYTE_TIMEOUT_MS = 1_500
const IDLE_TIMEOUT_MS = 700

let gateway: TestGateway
let sandbox: SandboxUpstream
let flood: Flood
let folder: string

before(async () => {
  sandbox = await startSandboxUpstream()
  // Its tokenizer is loaded by the first chat, for longer than the time-out if the machine is busy.
  await askChat(new URL(sandbox.baseUrl).origin, undefined, sound('sandbox-chat', {}))
  flood = await startFlood()
  folder = await mkdtemp(join(tmpdir(), 'catraca-streams-'))
  await writeFile(join(folder, 'catraca.config.json'), JSON.stringify(catalogConfig()))
  gateway = await startGateway({ CATRACA_CONFIG: join(folder, 'catraca.config.json') })
  // Its first answer loads the tokenizer, which on a loaded machine takes longer than the gateway waits.
  const sent = await fetch(`${sandbox.baseUrl}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ ...sound(), model: 'sandbox-chat' }),
  })
  assert.equal(sent.status, 200, await sent.text())
})

after(async () => {
  await gateway.stop()
  await sandbox.close()
  flood.close()
  await rm(folder, { recursive: true, force: true })
})

/**
 * Each sandbox model over an upstream that stops billing when it is left (`stops-`), and over one that does not
 * (`runs-`). USD 1 and 2 per million tokens; with a rate of 5.2 and a markup of 1.5 a prompt token bills 7,800
 * nano-BRL and an output token 15,600.
 */
const NANO_BRL_PER_PROMPT_TOKEN = 7_800n
const NANO_BRL_PER_OUTPUT_TOKEN = 15_600n

function catalogConfig(): unknown {
  const upstream = (id: string, baseUrl: string, cancelStopsBilling: boolean): unknown => ({
    id,
    kind: 'openai-compatible',
    base_url: baseUrl,
    cancel_stops_billing: cancelStopsBilling,
    first_byte_timeout_ms: FIRST_BYTE_TIMEOUT_MS,
    idle_timeout_ms: IDLE_TIMEOUT_MS,
  })
  const model = (upstreamId: string, name: string, more: object = {}): unknown => ({
    id: `${upstreamId}-${name}`,
    category: 'llm',
    prices: { input: 1, cached_input: '0.25', output: 2, reasoning: 4 },
    markup_multiplier: '1.5',
    routes: [{ upstream: upstreamId, model: name }],
    context_tokens: 128_000,
    max_output_tokens: 4_096,
    ...more,
  })
  const names = SANDBOX_MODELS.map(({ id }) => id)
  return {
    upstreams: [
      upstream('stops', sandbox.baseUrl, true),
      upstream('runs', sandbox.baseUrl, false),
      upstream('flood', `${flood.origin}/v1`, true),
      upstream('nobody', 'http://127.0.0.1:1/v1', true),
    ],
    models: [
      ...names.map((name) => model('stops', name)),
      ...names.map((name) => model('runs', name)),
      model('flood', 'endless'),
      model('flood', 'within', { context_tokens: 8_000_000, max_output_tokens: 4_000_000 }),
      model('nobody', 'there'),
    ],
  }
}

interface Flood {
  readonly origin: string
  /** The number of bytes written to the client of the newest call. */
  readonly bytesWritten: number
  close(): void
}

/** An upstream that writes as fast as it is read, and never ends. */
async function startFlood(): Promise<Flood> {
  let bytesWritten = 0
  const chunk = `data: {"choices":[{"index":0,"delta":{"content":"${'palavra '.repeat(500)}"}}]}\n\n`
  const server: Server = createServer((_request, response) => {
    bytesWritten = 0
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const write = (): void => {
      while (!response.destroyed) {
        bytesWritten += chunk.length
        if (!response.write(chunk)) return
      }
    }
    response.on('drain', write)
    write()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get bytesWritten() {
      return bytesWritten
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

const chat = (model: string, more: object = {}, secret = gateway.secret): Promise<Asked> =>
  askChat(gateway.node.baseUrl, secret, sound(model, more))

const STREAM = { stream: true, stream_options: { include_usage: true } }

/** The ledger's events of a call once nothing is held for it: at most one. */
async function eventOf(requestId: string): Promise<UsageEvent | undefined> {
  await untilNoHoldIsOpen(gateway.database)
  const events = await gateway.database.db
    .selectFrom('usage_events')
    .selectAll()
    .where('request_id', '=', requestId)
    .execute()
  assert.ok(events.length <= 1, 'a call has one event at most')
  return events[0]
}

async function chargeOf(requestId: string): Promise<UsageEvent> {
  const event = await eventOf(requestId)
  assert.equal(event?.outcome, 'charged')
  return event
}

async function assertReleased(requestId: string, reason: string): Promise<void> {
  const event = await eventOf(requestId)
  assert.equal(event?.outcome, 'released')
  assert.equal(event?.reason, reason)
  assert.equal(event?.cost_billed_nano_brl, 0n)
}

/** The charge of the sandbox's plain answers, computed from the tokens. */
function billOf({ prompt_tokens, completion_tokens }: UsageEvent): bigint {
  return (
    BigInt(prompt_tokens) * NANO_BRL_PER_PROMPT_TOKEN +
    BigInt(completion_tokens) * NANO_BRL_PER_OUTPUT_TOKEN
  )
}

test('streams on one connection are framed one after the other, pipelined too, and by its end for HTTP/1.0', async () => {
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '5' })
  const body = JSON.stringify(sound('stops-sandbox-chat', { stream: true, max_tokens: 20 }))
  const requestOf = (version: string, more = ''): string =>
    [
      `POST /v1/chat/completions HTTP/${version}`,
      'host: test',
      `authorization: Bearer ${secret}`,
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(body)}`,
      ...(more === '' ? [] : [more]),
      '',
      body,
    ].join('\r\n')
  const exchangeAll = async (requests: string): Promise<string> => {
    const socket = connect(Number(new URL(gateway.node.baseUrl).port), '127.0.0.1')
    const parts: Buffer[] = []
    socket.on('data', (part) => parts.push(part))
    socket.write(requests)
    await new Promise((resolve) => socket.once('close', resolve))
    return Buffer.concat(parts).toString('latin1')
  }

  let rest = await exchangeAll(
    requestOf('1.1') + requestOf('1.1') + requestOf('1.1', 'connection: close'),
  )
  for (let answer = 0; answer < 3; answer += 1) {
    assert.match(rest, /^HTTP\/1\.1 200 OK\r\n(?:[^\r\n]+\r\n)*transfer-encoding: chunked\r\n/i)
    rest = rest.slice(rest.indexOf('\r\n\r\n') + 4)
    let events = ''
    for (let size = -1; size !== 0;) {
      const [line] = /^[0-9a-f]+\r\n/.exec(rest) ?? assert.fail(JSON.stringify(rest.slice(0, 40)))
      size = Number.parseInt(line, 16)
      events += rest.slice(line.length, line.length + size)
      rest = rest.slice(line.length + size)
      assert.ok(rest.startsWith('\r\n'))
      rest = rest.slice(2)
    }
    assert.match(events, /^data: \{.*data: \[DONE\]\n\n$/s)
  }
  assert.equal(rest, '')

  const old = await exchangeAll(requestOf('1.0'))
  assert.doesNotMatch(old, /transfer-encoding/i)
  assert.match(old, /\r\n\r\ndata: \{[^]*data: \[DONE\]\n\n$/)
})

test('the cost of a plain answer is its tokens by the price, and exactly what the balance loses', async () => {
  const { secret, customerId } = await seedCustomer(gateway.database.db, { balanceBrl: '1' })
  const answer = await chat('stops-sandbox-chat', {}, secret)
  assert.equal(answer.status, 200)
  assertHeaders(answer, answer.requestId)
  assertNoTrace(answer)
  const { usage, choices, model, object } = answer.json
  assert.equal(object, 'chat.completion')
  assert.equal(model, 'stops-sandbox-chat')
  assert.ok(choices[0].message.content.length > 0)
  const event = await chargeOf(answer.requestId)
  assert.equal(event.usage_kind, 'exact')
  assert.equal(event.prompt_tokens, usage.prompt_tokens)
  assert.equal(event.completion_tokens, usage.completion_tokens)
  assert.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens)
  assert.equal(event.cost_billed_nano_brl, billOf(event))
  assert.equal(billedIn(answer.text), decimalBrl(event.cost_billed_nano_brl))
  const account = await findAccount(gateway.database.db, customerId)
  assert.equal(account?.balanceNanoBrl, (parseBrl('1') as bigint) - event.cost_billed_nano_brl)
})

test('a stream has chunks in the format, the usage and the cost in the last one, then the end', async () => {
  const answer = await chat('stops-sandbox-chat', STREAM)
  assert.equal(answer.status, 200)
  assert.match(answer.headers.get('content-type') ?? '', /^text\/event-stream/)
  assertHeaders(answer, answer.requestId)
  assertNoTrace(answer)
  const events = eventsOf(answer.text)
  assert.equal(events.at(-1), '[DONE]')
  const chunks = events.slice(0, -1).map((event) => JSON.parse(event))
  for (const chunk of chunks) {
    assert.equal(chunk.object, 'chat.completion.chunk')
    assert.equal(chunk.model, 'stops-sandbox-chat')
    assert.equal(chunk.id, chunks[0].id)
  }
  const event = await chargeOf(answer.requestId)
  const [last] = chunks.slice(-1)
  assert.deepEqual(last.choices, [])
  assert.equal(last.usage.completion_tokens, event.completion_tokens)
  assert.equal(billedIn(events.at(-2) as string), decimalBrl(event.cost_billed_nano_brl))
  assert.equal(event.cost_billed_nano_brl, billOf(event))
  assert.equal(chunks.filter((chunk) => chunk.usage).length, 1)
})

test('a stream without requested usage has no usage chunk, and is charged the same', async () => {
  const asked = await chat('stops-sandbox-chat', STREAM)
  const unasked = await chat('stops-sandbox-chat', { stream: true })
  assert.doesNotMatch(unasked.text, /"usage"|cost_billed_brl/)
  assert.equal(eventsOf(unasked.text).at(-1), '[DONE]')
  const [one, other] = [await chargeOf(asked.requestId), await chargeOf(unasked.requestId)]
  assert.equal(one.cost_billed_nano_brl, other.cost_billed_nano_brl)
})

interface OpenStream {
  readonly requestId: string
  readonly response: Response
  readonly reader: ReadableStreamDefaultReader<Uint8Array>
  leave(): void
}

function startStream(model: string, requestId: string, signal: AbortSignal): Promise<Response> {
  return fetch(`${gateway.node.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.secret}`,
      'content-type': 'application/json',
      'x-svc-request-id': requestId,
    },
    body: JSON.stringify(sound(model, STREAM)),
    signal,
  })
}

async function openStream(model: string): Promise<OpenStream> {
  const requestId = randomUUID()
  const leaving = new AbortController()
  const response = await startStream(model, requestId, leaving.signal)
  assert.equal(response.status, 200)
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  return { requestId, response, reader, leave: () => leaving.abort() }
}

async function readText({ reader }: OpenStream, until: (text: string) => boolean): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  while (!until(text)) {
    const { done, value } = await reader.read()
    if (done) return text
    text += decoder.decode(value, { stream: true })
  }
  return text
}

const hasWords = (count: number) => (text: string) => text.split('"content"').length > count

test('chunks leave as they arrive: the client reads words while the upstream still writes', async () => {
  const stream = await openStream('stops-sandbox-long')
  const completedBefore = sandbox.counts.completed
  await readText(stream, hasWords(5))
  assert.equal(sandbox.counts.completed, completedBefore, 'the upstream has not ended')
  const open = await gateway.database.db.selectFrom('holds').select('request_id').execute()
  assert.deepEqual(open, [{ request_id: stream.requestId }])
  stream.leave()
  await chargeOf(stream.requestId)
})

test('a client that leaves after some output pays the reported usage, even if leaving would stop the billing', async () => {
  const completedBefore = sandbox.counts.completed
  const stream = await openStream('stops-sandbox-long')
  await readText(stream, hasWords(12))
  stream.leave()
  const event = await chargeOf(stream.requestId)
  assert.equal(event.usage_kind, 'exact')
  assert.equal(event.completion_tokens, 400)
  assert.equal(event.cost_billed_nano_brl, billOf(event))
  assert.equal(sandbox.counts.completed, completedBefore + 1)
})

test('if a client leaves and billing continues, the upstream is read to its end, and its report is charged', async () => {
  const completedBefore = sandbox.counts.completed
  const stream = await openStream('runs-sandbox-long')
  await readText(stream, hasWords(3))
  stream.leave()
  const event = await chargeOf(stream.requestId)
  assert.equal(event.usage_kind, 'exact')
  assert.equal(event.completion_tokens, 400)
  assert.equal(sandbox.counts.completed, completedBefore + 1)
})

test('a client that leaves before the first word pays nothing or the generated output; nothing stays held', async () => {
  for (const model of ['stops-sandbox-hang', 'stops-sandbox-chat', 'runs-sandbox-chat']) {
    const requestId = randomUUID()
    const leaving = new AbortController()
    const asked = startStream(model, requestId, leaving.signal)
    for (;;) {
      const open = await gateway.database.db.selectFrom('holds').select('request_id').execute()
      const done = await gateway.database.db
        .selectFrom('usage_events')
        .select('id')
        .where('request_id', '=', requestId)
        .execute()
      if (open.length + done.length > 0) break
    }
    leaving.abort()
    await asked.then((answer) => answer.text()).catch(() => {})
    assert.ok(await eventOf(requestId))
  }
})

test('back-pressure: an upstream is read no faster than its client reads', async () => {
  const stream = await openStream('flood-within')
  await readText(stream, hasWords(1))
  let written: number
  do {
    written = flood.bytesWritten
    await sleep(500)
  } while (flood.bytesWritten > written)
  // Only the socket buffers in between fill up; without back-pressure the count would never settle.
  assert.ok(written < 32 * 1024 * 1024, `${written} bytes`)
  stream.leave()
  const event = await chargeOf(stream.requestId)
  assert.equal(event.reason, 'client_left')
  assert.ok(
    event.cost_billed_nano_brl <= event.held_nano_brl,
    'an estimate is never above the hold',
  )
})

test('a stream that exceeds the held limit is cut, and charged within its hold', async () => {
  const stream = await openStream('flood-endless')
  const text = await readText(stream, () => false)
  assert.match(text, /upstream_error/)
  assert.ok(!text.includes('[DONE]'))
  const event = await chargeOf(stream.requestId)
  assert.equal(event.reason, 'stream_broken')
  assert.equal(event.completion_tokens, 4_096)
  assert.ok(event.cost_billed_nano_brl <= event.held_nano_brl)
})

interface Ending {
  readonly status: number
  readonly end: 'done' | 'error event' | 'refusal'
  /** The estimate's reason in the usage event; null for an exact charge. */
  readonly reason: string | null
  readonly outcome: 'charged' | 'released'
}

const charged = (reason: string | null = null): Ending => ({
  status: 200,
  end: 'done',
  outcome: 'charged',
  reason,
})
const broken: Ending = {
  status: 200,
  end: 'error event',
  outcome: 'charged',
  reason: 'stream_broken',
}
const refused = (status: number, reason: string): Ending => ({
  status,
  end: 'refusal',
  outcome: 'released',
  reason,
})

/** The result of the stream, then of the plain answer if it differs. */
const ENDINGS: Record<string, readonly [stream: Ending, plain: Ending]> = {
  'sandbox-chat': [charged(), charged()],
  'sandbox-split': [charged(), charged()],
  'sandbox-reasoning': [charged(), charged()],
  'sandbox-cached': [charged(), charged()],
  'sandbox-overrun': [charged(), charged()],
  'sandbox-no-usage': [charged('no_usage_reported'), charged('no_usage_reported')],
  'sandbox-cut-stream': [broken, refused(502, 'connection_lost')],
  // It stalls before its first word: no output exists to pay for.
  'sandbox-stall': [{ ...broken, outcome: 'released' }, refused(502, 'idle_timeout')],
  'sandbox-error-in-stream': [broken, refused(502, 'server_error')],
  'sandbox-garbage': [broken, refused(502, 'bad_answer')],
  'sandbox-hang': [refused(502, 'first_byte_timeout'), refused(502, 'first_byte_timeout')],
  'sandbox-error-400': [refused(400, 'refused_request'), refused(400, 'refused_request')],
  'sandbox-error-401': [refused(502, 'credentials_refused'), refused(502, 'credentials_refused')],
  'sandbox-error-429': [refused(429, 'rate_limited'), refused(429, 'rate_limited')],
  'sandbox-error-500': [refused(502, 'server_error'), refused(502, 'server_error')],
  'sandbox-error-503': [refused(503, 'server_error'), refused(503, 'server_error')],
  'sandbox-html-error': [refused(502, 'server_error'), refused(502, 'server_error')],
}

for (const [name, [stream, plain]] of Object.entries(ENDINGS)) {
  for (const upstream of ['stops', 'runs']) {
    test(`${upstream}-${name}, streamed: ${stream.end}, ${stream.outcome}`, () =>
      assertEnding(`${upstream}-${name}`, STREAM, stream))
    test(`${upstream}-${name}, plain: ${plain.end}, ${plain.outcome}`, () =>
      assertEnding(`${upstream}-${name}`, {}, plain))
  }
}

async function assertEnding(model: string, more: object, ending: Ending): Promise<void> {
  const answer = await chat(model, more)
  assert.equal(answer.status, ending.status, answer.text.slice(0, 300))
  assertHeaders(answer, answer.requestId)
  assertNoTrace(answer)
  if (ending.end === 'error event') {
    const last = JSON.parse(eventsOf(answer.text).at(-1) as string)
    assert.deepEqual(Object.keys(last.error).sort(), ['code', 'message', 'param', 'type'])
    assert.equal(last.error.type, 'upstream_error')
  }
  if (ending.end === 'refusal') assertRefusal(answer, ending.status, answer.json.error.type)
  if (ending.outcome === 'released') {
    return assertReleased(answer.requestId, ending.reason as string)
  }
  const event = await chargeOf(answer.requestId)
  assert.equal(event.reason, ending.reason)
  assert.equal(event.usage_kind, ending.reason === null ? 'exact' : 'estimated')
  assert.ok(event.cost_billed_nano_brl > 0n)
  if (ending.end === 'done')
    assert.equal(billedIn(answer.text), decimalBrl(event.cost_billed_nano_brl))
}

test('reasoning and cached tokens are charged by their own prices', async () => {
  const reasoned = await chargeOf((await chat('stops-sandbox-reasoning')).requestId)
  assert.ok(reasoned.reasoning_tokens > 0)
  assert.equal(
    reasoned.cost_billed_nano_brl,
    billOf(reasoned) + BigInt(reasoned.reasoning_tokens) * NANO_BRL_PER_OUTPUT_TOKEN,
  )
  const cached = await chargeOf((await chat('stops-sandbox-cached')).requestId)
  assert.ok(cached.cached_tokens > 0)
  assert.equal(
    cached.cost_billed_nano_brl,
    billOf(cached) - (BigInt(cached.cached_tokens) * NANO_BRL_PER_PROMPT_TOKEN * 3n) / 4n,
  )
})

test('usage above the ceiling is charged in full, once, and alarms the operator', async () => {
  const { secret, customerId } = await seedCustomer(gateway.database.db, { balanceBrl: '0.01' })
  const answer = await chat('stops-sandbox-overrun', { max_tokens: 10 }, secret)
  const event = await chargeOf(answer.requestId)
  assert.ok(event.cost_billed_nano_brl > event.held_nano_brl)
  const account = await findAccount(gateway.database.db, customerId)
  assert.equal(
    account?.balanceNanoBrl,
    (parseBrl('0.01') as bigint) - event.cost_billed_nano_brl,
    'what the balance does not cover is a debt',
  )
  assert.ok(gateway.node.log.some((line) => line.includes('charge_above_hold')))
})

test('an unreachable upstream: 502 at once, nothing is charged', async () => {
  const answer = await chat('nobody-there')
  assertRefusal(answer, 502, 'upstream_error')
  await assertReleased(answer.requestId, 'connect_failed')
})

test('after all of this the audit is clean', async () => {
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
})
