// deep: an attack
/** Clients that do not read their answers, over real sockets, with a short limit. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify, { type RouteHandlerMethod } from 'fastify'
import type { Client } from '../../src/gateway/calls/client.ts'
import { chatErrors } from '../../src/http/rest/error-formats.ts'
import { createHttpClient } from '../../src/http/model-calls/http-client.ts'
import { addStallLimit } from '../../src/http/server/watch-clients.ts'

const STALL_MS = 300
/** More than the buffers of two sockets hold. */
const ANSWER = 'x'.repeat(32 * 1024 * 1024)
const LIMITS = { limit: 1, remaining: 1, resetAt: 0 }
/** A connection that nothing ends would never end the test. It decides nothing while the limit is kept. */
const BOUND_MS = 100 * STALL_MS

/**
 * Answers; the client reads nothing. Resolves to how that ended: the answer was sent whole, or its client was
 * disconnected, or neither.
 */
async function serveUnread(handler: RouteHandlerMethod): Promise<'whole' | 'cut' | 'still open'> {
  const server = Fastify()
  addStallLimit(server, STALL_MS)
  server.get('/', handler)
  const bound = AbortSignal.timeout(BOUND_MS)
  const ended = new Promise<'whole' | 'cut' | 'still open'>((resolve) => {
    server.server.on('request', (_request, response) =>
      response.once('close', () => resolve(response.writableFinished ? 'whole' : 'cut')),
    )
    bound.addEventListener('abort', () => resolve('still open'))
  })
  await server.listen({ port: 0, host: '127.0.0.1' })
  const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => {})
  socket.pause()
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  try {
    return await ended
  } finally {
    socket.destroy()
    await server.close()
  }
}

test('a client that reads nothing of a whole answer is disconnected, and its bytes are counted until then', async () => {
  const kept: number[] = []
  const end = await serveUnread((request, reply) => {
    const options = { publicUrl: undefined, errorFormat: chatErrors, writeStallMs: STALL_MS }
    createHttpClient(request, reply, { ...options, keep: (bytes) => kept.push(bytes) }).answer(
      ANSWER,
      LIMITS,
    )
  })
  assert.equal(end, 'cut')
  assert.deepEqual(kept, [ANSWER.length])
})

test('a client that reads nothing of the end of a stream is disconnected', async () => {
  const end = await serveUnread((request, reply) => {
    const client = createHttpClient(request, reply, {
      publicUrl: undefined,
      errorFormat: chatErrors,
      writeStallMs: STALL_MS,
    })
    client.beginStream(LIMITS)
    client.endStream(ANSWER)
  })
  assert.equal(end, 'cut')
})

test('a stream waits for its client for less than the minute after which proxies close an upstream that nobody reads', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const waits = Promise.withResolvers<void>()
  const isCut = Promise.withResolvers<boolean>()
  const end = serveUnread(async (request, reply) => {
    const client = createHttpClient(request, reply, {
      publicUrl: undefined,
      errorFormat: chatErrors,
    })
    client.beginStream(LIMITS)
    let wait: Promise<void> | undefined
    while (!wait) wait = client.write(ANSWER, Infinity)
    waits.resolve()
    await wait
    isCut.resolve(client.hasLeft())
  })
  await waits.promise
  context.mock.timers.tick(45_000)
  assert.equal(await isCut.promise, true)
  assert.equal(await end, 'cut')
})

test('a client that reads nothing of a REST answer or a file is disconnected', async () => {
  const pieces = Array<Buffer>(512).fill(Buffer.alloc(64 * 1024))
  const ends = await Promise.all([
    serveUnread((_request, reply) => reply.send(ANSWER)),
    serveUnread((_request, reply) => reply.send(Buffer.from(ANSWER))),
    serveUnread((_request, reply) => reply.send(Readable.from(pieces))),
  ])
  assert.deepEqual(ends, ['cut', 'cut', 'cut'])
})

test('a client that reads its answer gets all of it, and its connection stays open', async () => {
  const server = Fastify()
  addStallLimit(server, 30_000)
  server.get('/', (_request, reply) => reply.send(ANSWER))
  await server.listen({ port: 0, host: '127.0.0.1' })
  const { port } = server.server.address() as AddressInfo
  let connections = 0
  server.server.on('connection', () => (connections += 1))
  const agent = new Agent({ keepAlive: true })
  for (let count = 0; count < 2; count += 1) {
    const [answer] = (await once(get({ port, host: '127.0.0.1', agent }), 'response')) as [Readable]
    let bytes = 0
    for await (const part of answer) bytes += (part as Buffer).length
    assert.equal(bytes, ANSWER.length)
  }
  assert.equal(connections, 1)
  agent.destroy()
  await server.close()
})

/** Two requests at once on one connection: the second is answered before its turn on the connection. */
async function servePipelined(
  context: TestContext,
  second: (client: Client) => unknown,
  { reads, writeStallMs = STALL_MS }: { reads: boolean; writeStallMs?: number },
): Promise<{ closed: Promise<unknown>; first: Client; turn: Promise<Socket> }> {
  const server = Fastify()
  const clients: Client[] = []
  let turn: Promise<Socket> | undefined
  const both = new Promise<void>((resolve) => {
    server.get('/', (request, reply) => {
      const options = { publicUrl: undefined, errorFormat: chatErrors, writeStallMs }
      clients.push(createHttpClient(request, reply, options))
      if (clients.length < 2) return
      turn = once(reply.raw, 'socket').then(([socket]) => socket as Socket)
      resolve()
    })
  })
  const closed = new Promise((resolve) =>
    server.server.on('connection', (socket: Socket) =>
      socket.once('close', () => resolve('closed')),
    ),
  )
  await server.listen({ port: 0, host: '127.0.0.1' })
  const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => {})
  context.after(() => {
    socket.destroy()
    return server.close()
  })
  if (reads) socket.resume()
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(2))
  await both
  const [first, later] = clients as [Client, Client]
  await second(later)
  return {
    closed: Promise.race([closed, sleep(BOUND_MS, 'still open', { ref: false })]),
    first,
    turn: turn as Promise<Socket>,
  }
}

const WHOLE: readonly [string, (client: Client) => void][] = [
  ['a whole answer', (client) => client.answer(ANSWER, LIMITS)],
  [
    'the end of a stream',
    (client) => {
      client.beginStream(LIMITS)
      client.endStream(ANSWER)
    },
  ],
]

for (const [what, answer] of WHOLE)
  test(`a client that reads nothing of ${what} which waited for its turn is disconnected`, async (context) => {
    const { first, closed } = await servePipelined(context, answer, { reads: false })
    first.answer('{}', LIMITS)
    assert.equal(await closed, 'closed')
  })

test('a stream that was cut off before its turn ends the connection, so that its client does not wait for ever', async (context) => {
  const cutOff = async (client: Client): Promise<void> => {
    client.beginStream(LIMITS)
    await client.write(ANSWER, STALL_MS)
    assert.ok(client.hasLeft())
  }
  const { first, closed } = await servePipelined(context, cutOff, { reads: true })
  first.answer('{}', LIMITS)
  assert.equal(await closed, 'closed')
})

test('the limit of a large answer does not cut the next answer on its connection', async (context) => {
  const { first, turn } = await servePipelined(context, () => {}, {
    reads: true,
    writeStallMs: BOUND_MS,
  })
  first.answer(ANSWER, LIMITS)
  assert.equal((await turn).timeout, 0)
})
