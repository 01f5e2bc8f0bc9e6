/** Responses over WebSockets: over real sockets, charged as over HTTP, and what clients may do to the node with them. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { registerHooks } from 'node:module'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { WebSocket } from 'undici'
import { ask } from '../harness/ask.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { configured } from '../harness/media-calls.ts'
import {
  createGate,
  eventOf,
  GOOD_TEXT,
  good,
  startScriptedUpstream,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { assertResponse } from '../responses/assert-response.ts'

let gateway: TestGateway
let upstream: ScriptedUpstream

const BODY_BYTES_MAX = 256 * 1024
/** More than the buffers of the sockets between hold. */
const UNREAD_BYTES = 60 * 1024 * 1024
const MODELS = ['chat', 'gated', 'endless', 'hanging']

before(async () => {
  upstream = await startScriptedUpstream()
  const config = {
    upstreams: [{ id: 'chats', kind: 'openai-compatible', base_url: upstream.baseUrl, retries: 0 }],
    models: MODELS.map((id) => ({
      id,
      category: 'llm',
      prices: { input: 1, output: 2 },
      markup_multiplier: '1.5',
      routes: [{ upstream: 'chats', model: id }],
      context_tokens: 1_000_000,
      max_output_tokens: 1_000_000,
      supports_tools: true,
    })),
  }
  gateway = await startGateway({ ...configured(config), BODY_BYTES_MAX: String(BODY_BYTES_MAX) })
  upstream.play('chat', good)
})

after(() => upstream.close())

const newCustomer = (balanceBrl = '100') => seedCustomer(gateway.database.db, { balanceBrl })

interface Opened {
  send(message: unknown): void
  /** The next message of the server; undefined once the connection has ended. */
  next(): Promise<any>
  /** Sends a `response.create` and reads its events to the last one. */
  respond(body: object): Promise<any[]>
  readonly closed: Promise<number>
  close(): void
}

const ENDS = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
  undefined,
])

async function open(secret: string): Promise<Opened> {
  const ws = new WebSocket(`${gateway.node.baseUrl.replace('http', 'ws')}/responses`, {
    headers: { authorization: `Bearer ${secret}` },
  })
  const messages: any[] = []
  const readers: ((message: any) => void)[] = []
  const take = (message: any): void => {
    const reader = readers.shift()
    if (reader) reader(message)
    else messages.push(message)
  }
  const closed = new Promise<number>((resolve) =>
    ws.addEventListener('close', ({ code }) => {
      take(undefined)
      resolve(code)
    }),
  )
  ws.addEventListener('message', ({ data }) => take(JSON.parse(data as string)))
  await new Promise<void>((resolve, reject) => {
    ws.addEventListener('open', () => resolve())
    ws.addEventListener('error', () => reject(new Error('the connection was refused')))
  })
  const next = (): Promise<any> =>
    messages.length > 0
      ? Promise.resolve(messages.shift())
      : new Promise((resolve) => readers.push(resolve))
  const send = (message: unknown): void =>
    ws.send(typeof message === 'string' ? message : JSON.stringify(message))
  return {
    send,
    next,
    closed,
    close: () => ws.close(),
    async respond(body) {
      send({ type: 'response.create', model: 'chat', store: false, ...body })
      const events = []
      do events.push(await next())
      while (!ENDS.has(events.at(-1)?.type))
      return events
    },
  }
}

/** A connection whose bytes the test itself writes and reads. */
async function openRaw(secret: string, more = ''): Promise<{ socket: Socket; head: string }> {
  const { hostname, port } = new URL(gateway.node.baseUrl)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write(
    `GET /v1/responses HTTP/1.1\r\nhost: ${hostname}:${port}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n` +
      `authorization: Bearer ${secret}\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n${more}\r\n`,
  )
  const [head] = (await once(socket, 'data')) as [Buffer]
  return { socket, head: head.toString('latin1') }
}

/** Whatever error it ends with. */
const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => socket.once('close', () => resolve()))

/** A frame as clients send it, with a mask of zeros. `bytesMore` are declared and not in it. */
function frame(payload: string, bytesMore = 0, isLast = true): Buffer {
  const data = Buffer.from(payload)
  const head = Buffer.alloc(14)
  head[0] = (isLast ? 0x80 : 0) | 1
  head[1] = 0x80 | 127
  head.writeBigUInt64BE(BigInt(data.length + bytesMore), 2)
  return Buffer.concat([head, data])
}

async function refusalOf(headers: Record<string, string>): Promise<[number, string]> {
  const asked = request(`${gateway.node.baseUrl}/responses`, { headers })
  asked.end()
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    asked.on('response', resolve)
    asked.on('error', reject)
    asked.on('upgrade', () => reject(new Error('the connection was accepted')))
  })
  return [answer.statusCode as number, JSON.parse(await text(answer)).error.code]
}

/** Asks again and again, at most for half a minute. */
async function untilTrue(isTrue: () => boolean, everyMs = 20): Promise<void> {
  for (let left = 30_000 / everyMs; left > 0 && !isTrue(); left--) await sleep(everyMs)
  assert.ok(isTrue())
}

async function chargesOf(customerId: string): Promise<number> {
  await untilNoHoldIsOpen(gateway.database)
  const events = await gateway.database.db
    .selectFrom('usage_events')
    .select('outcome')
    .where('customer_id', '=', customerId)
    .execute()
  return events.filter(({ outcome }) => outcome === 'charged').length
}

/** The first test: later ones find the library loaded. */
test('a node that cannot load its library for WebSockets says so, and tries again for the next connection', async () => {
  const { secret } = await newCustomer()
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (specifier === 'ws') throw new Error('no such library')
      return next(specifier, context)
    },
  })
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    authorization: `Bearer ${secret}`,
  }
  const refused = await Promise.race([refusalOf(headers), sleep(5_000)])
  hooks.deregister()
  assert.deepEqual(refused, [426, 'not_found'])
  const socket = await open(secret)
  assert.equal((await socket.respond({ input: 'Um' })).at(-1).type, 'response.completed')
  socket.close()
})

test('each message is a call: its events are those of a stream, and it is charged once', async () => {
  const { secret, customerId } = await newCustomer()
  const socket = await open(secret)
  for (let turn = 1; turn <= 3; turn++) {
    const events = await socket.respond({ input: `Volta ${turn}` })
    assert.deepEqual(
      events.map(({ sequence_number: number }) => number),
      events.map((_event, index) => index),
    )
    assert.equal(events[0].type, 'response.created')
    const { response } = events.at(-1)
    assertResponse(response)
    assert.equal(response.output[0].content[0].text, GOOD_TEXT)
    assert.equal(await chargesOf(customerId), turn)
  }
  socket.close()
})

test('a connection continues its last response where nothing is stored, and no other one', async () => {
  const { secret, customerId } = await newCustomer()
  const socket = await open(secret)
  const first = (await socket.respond({ input: 'Um' })).at(-1).response
  const second = (await socket.respond({ input: 'Dois', previous_response_id: first.id })).at(
    -1,
  ).response
  assert.deepEqual(textsOf('chat'), ['Um', GOOD_TEXT, 'Dois'])
  assert.equal(second.previous_response_id, first.id)
  const third = (await socket.respond({ input: 'Três', previous_response_id: second.id })).at(-1)
  assert.deepEqual(textsOf('chat'), ['Um', GOOD_TEXT, 'Dois', GOOD_TEXT, 'Três'])
  assert.equal(third.response.store, false)
  for (const lost of [first.id, 'resp_1']) {
    const [refused] = await socket.respond({ input: 'E?', previous_response_id: lost })
    assert.deepEqual(
      [refused.type, refused.status, refused.error.code],
      ['error', 400, 'previous_response_not_found'],
    )
  }
  // What was refused forgets nothing.
  const last = await socket.respond({ input: 'E?', previous_response_id: third.response.id })
  assert.equal(last.at(-1).type, 'response.completed')
  assert.equal(await chargesOf(customerId), 4)
  const other = await open(secret)
  const [strange] = await other.respond({
    input: 'E?',
    previous_response_id: last.at(-1).response.id,
  })
  assert.equal(strange.error.code, 'previous_response_not_found')
  other.close()
  socket.close()
})

function textsOf(model: string): string[] {
  return upstream
    .callsOf(model)
    .at(-1)
    ?.body.messages.map(({ content }: any) => content)
}

test('a request that is only prepared costs nothing, reaches no upstream, and is continued', async () => {
  const { secret, customerId } = await newCustomer()
  const socket = await open(secret)
  const asked = upstream.callsOf('chat').length
  const prepared = (await socket.respond({ input: 'Um', generate: false })).at(-1)
  assert.equal(prepared.type, 'response.completed')
  const more = { input: [], generate: false, previous_response_id: prepared.response.id }
  const again = (await socket.respond(more)).at(-1)
  assert.equal(again.type, 'response.completed')
  assert.equal(upstream.callsOf('chat').length, asked)
  assert.equal(await chargesOf(customerId), 0)
  const [refused] = await socket.respond({ input: 'Um', generate: false, model: 'nada' })
  assert.equal(refused.status, 404)
  const last = await socket.respond({ input: 'Dois', previous_response_id: again.response.id })
  assert.equal(last.at(-1).type, 'response.completed')
  assert.deepEqual(textsOf('chat'), ['Um', 'Dois'])
  socket.close()
})

test('who may not call gets the answer of HTTP before there is a WebSocket', async () => {
  const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
  const withKey = { ...upgrade, 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' }
  assert.deepEqual(await refusalOf(withKey), [401, 'authentication_failed'])
  assert.deepEqual(await refusalOf({ ...withKey, authorization: 'Bearer sk-svc-none' }), [
    401,
    'authentication_failed',
  ])
  const { secret } = await newCustomer()
  assert.deepEqual(await refusalOf({ authorization: `Bearer ${secret}` }), [404, 'not_found'])
  const other = await ask(gateway.node.baseUrl, '/chat/completions', {
    secret,
    headers: upgrade,
    method: 'GET',
  }).catch(() => undefined)
  assert.ok(other === undefined || other.status === 426 || other.status === 404)
})

test('a key that is revoked, or a balance that is spent, while a connection is open ends its calls', async () => {
  const { secret, customerId } = await newCustomer()
  const socket = await open(secret)
  assert.equal((await socket.respond({ input: 'Um' })).at(-1).type, 'response.completed')
  const { id } = await gateway.database.db
    .selectFrom('api_keys')
    .select('id')
    .where('customer_id', '=', customerId)
    .executeTakeFirstOrThrow()
  const revoked = await ask(gateway.node.baseUrl, `/api-keys/${id}`, { secret, method: 'DELETE' })
  assert.ok(revoked.status < 300, revoked.text)
  const [refused] = await socket.respond({ input: 'Dois' })
  assert.deepEqual([refused.status, refused.error.code], [401, 'authentication_failed'])
  const poor = await newCustomer('0.000001')
  const spent = await open(poor.secret)
  const [unpaid] = await spent.respond({ input: 'Um' })
  assert.deepEqual(
    [unpaid.type, unpaid.status, unpaid.error.code],
    ['error', 402, 'insufficient_balance'],
  )
  assert.equal(await chargesOf(poor.customerId), 0)
  spent.close()
  socket.close()
})

test('messages that come together are answered one after the other, and a flood of them ends the connection', async () => {
  const { secret } = await newCustomer()
  const socket = await open(secret)
  for (const input of ['Um', 'Dois', 'Três'])
    socket.send({ type: 'response.create', model: 'chat', input })
  const order: string[] = []
  while (order.filter((type) => type === 'response.completed').length < 3)
    order.push((await socket.next()).type)
  const ends = order.flatMap((type, at) => (type === 'response.completed' ? [at] : []))
  const begins = order.flatMap((type, at) => (type === 'response.created' ? [at] : []))
  assert.ok(begins.every((at, turn) => turn === 0 || at > (ends[turn - 1] as number)))
  const gate = createGate()
  upstream.play('gated', gate.behaviour)
  for (let times = 0; times < 2_000; times++)
    socket.send({ type: 'response.create', model: 'gated', input: 'Olá' })
  await socket.closed
  assert.ok(gate.waitedMax <= 1)
  gate.open()
})

test('what is no message of the format is refused, and leaves the connection open', async () => {
  const { secret } = await newCustomer()
  const socket = await open(secret)
  for (const wrong of ['{', '[]', '7', { type: 'response.cancel' }, { input: 'Olá' }]) {
    socket.send(wrong)
    const refused = await socket.next()
    assert.deepEqual([refused.type, refused.status], ['error', 400], JSON.stringify(wrong))
  }
  // Codex says this of each answer.
  socket.send({ type: 'response.processed', response_id: 'resp_1' })
  assert.equal((await socket.respond({ input: 'Um' })).at(-1).type, 'response.completed')
  socket.close()
})

test('a message is parsed within the bounds of a body only, whatever it says of itself', async () => {
  const { secret } = await newCustomer()
  const socket = await open(secret)
  const deep = '['.repeat(10_000) + ']'.repeat(10_000)
  for (const type of ['response.create', 'other'])
    for (const generate of [false, 1]) {
      socket.send(`{"type":"${type}","generate":${generate},"model":"chat","input":${deep}}`)
      const refused = await socket.next()
      assert.match(refused.error.message, /200 níveis/)
    }
  socket.close()
})

test('a connection keeps nothing of a message that was refused', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const heapBytes = (): number => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const { secret } = await newCustomer()
  const sockets = await Promise.all(Array.from({ length: 60 }, () => open(secret)))
  const refuseAll = async (input: string): Promise<void> => {
    for (const socket of sockets) {
      const [refused] = await socket.respond({ input, model: 'nada' })
      assert.equal(refused.status, 404)
    }
  }
  await refuseAll('Olá')
  const before = heapBytes()
  await refuseAll('x'.repeat(BODY_BYTES_MAX - 1_024))
  const keptBytes = heapBytes() - before
  assert.ok(keptBytes < (sockets.length * BODY_BYTES_MAX) / 3, `${keptBytes} bytes are kept`)
  for (const socket of sockets) socket.close()
  await Promise.all(sockets.map(({ closed }) => closed))
})

test('a message above the limit of bodies ends the connection, however it is cut into frames', async () => {
  const { secret } = await newCustomer()
  const socket = await open(secret)
  socket.send('x'.repeat(BODY_BYTES_MAX + 1))
  assert.equal(await socket.closed, 1009)
  const raw = await openRaw(secret)
  assert.match(raw.head, /^HTTP\/1\.1 101 /)
  assert.doesNotMatch(raw.head, /permessage-deflate/)
  raw.socket.write(frame('x', BODY_BYTES_MAX))
  await closed(raw.socket)
  const parts = await openRaw(secret, 'sec-websocket-extensions: permessage-deflate\r\n')
  assert.doesNotMatch(parts.head, /permessage-deflate/)
  parts.socket.resume()
  parts.socket.write(frame('x'.repeat(1_000), 0, false))
  const more = frame('x'.repeat(1_000), 0, false)
  more[0] = 0
  const timer = setInterval(() => parts.socket.write(more), 0)
  await closed(parts.socket)
  clearInterval(timer)
})

test('a client that reads nothing is not written for: its upstream waits, and it is cut off', async () => {
  const { secret } = await newCustomer()
  const { socket } = await openRaw(secret)
  let written = 0
  const chunk = eventOf({
    choices: [{ index: 0, delta: { content: 'palavra '.repeat(5_000) }, finish_reason: null }],
  })
  upstream.play('endless', async (_call, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    while (written < UNREAD_BYTES) {
      written += chunk.length
      await new Promise((resolve) => response.write(chunk, resolve))
    }
    response.end('data: [DONE]\n\n')
  })
  socket.pause()
  socket.write(frame(JSON.stringify({ type: 'response.create', model: 'endless', input: 'Olá' })))
  let before = -1
  await untilTrue(() => {
    const isStill = written > 0 && written === before
    before = written
    return isStill
  }, 500)
  assert.ok(written < UNREAD_BYTES / 2, `${written} bytes were read for it`)
  socket.destroy()
  await untilNoHoldIsOpen(gateway.database)
})

test('a client that leaves while its call runs pays for it, and leaves nothing behind', async () => {
  const { secret, customerId } = await newCustomer()
  const gate = createGate()
  upstream.play('hanging', gate.behaviour)
  const socket = await open(secret)
  socket.send({ type: 'response.create', model: 'hanging', input: 'Olá' })
  await untilTrue(() => gate.waitedMax === 1)
  socket.close()
  await socket.closed
  gate.open()
  assert.equal(await chargesOf(customerId), 1)
})

test('a customer has so many connections and no more, which are free again when they end', async () => {
  const { secret } = await newCustomer()
  const sockets = await Promise.all(Array.from({ length: 100 }, () => open(secret)))
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    authorization: `Bearer ${secret}`,
  }
  assert.deepEqual(await refusalOf(headers), [429, 'rate_limit_exceeded'])
  const other = await newCustomer()
  ;(await open(other.secret)).close()
  for (const socket of sockets) socket.close()
  await Promise.all(sockets.map(({ closed }) => closed))
  const again = await open(secret)
  assert.equal((await again.respond({ input: 'Um' })).at(-1).type, 'response.completed')
  again.close()
})

test('the books are in balance', async () => {
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
})

test('a node that stops ends idle connections at once, and others after their calls', async () => {
  const { secret } = await newCustomer()
  const gate = createGate()
  upstream.play('gated', gate.behaviour)
  const [idle, busy] = await Promise.all([open(secret), open(secret)])
  const response = busy.respond({ model: 'gated', input: 'Olá' })
  await untilTrue(() => gate.waitedMax === 1)
  const stopping = gateway.stop()
  assert.equal(await idle.closed, 1001)
  gate.open()
  assert.equal((await response).at(-1).type, 'response.completed')
  assert.equal(await busy.closed, 1001)
  await stopping
})
