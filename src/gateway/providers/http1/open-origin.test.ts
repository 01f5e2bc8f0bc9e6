/** The client against real sockets, and against undici on the same bytes. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Pool, type Dispatcher } from 'undici'
import fc from '../../../../test/harness/fast-check.ts'
import { openOrigin, type Origin, type OriginOptions } from './open-origin.ts'

const OPTIONS: OriginOptions = {
  connectTimeoutMs: 2_000,
  headTimeoutMs: 5_000,
  connectionsMax: 4,
  keepAliveMs: 5_000,
}
const REQUEST = { path: '/v1', method: 'POST', headers: { 'x-a': 'b' }, body: '{}' } as const

type Serve = (socket: Socket, request: string) => void

let server: Server
let serve: Serve
let url: URL
const sockets = new Set<Socket>()

before(async () => {
  server = createServer((socket) => {
    sockets.add(socket)
    let text = ''
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
      const [head = '', body] = text.split('\r\n\r\n')
      const length = Number(/content-length: (\d+)/.exec(head)?.[1])
      if (body === undefined || body.length < length) return
      serve(socket, text)
      text = ''
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
after(() => {
  for (const socket of sockets) socket.destroy()
  server.close()
})

interface Seen {
  readonly status?: number
  readonly type?: unknown
  readonly body?: string
  readonly isWhole: boolean
}

type Dispatches = (handler: Dispatcher.DispatchHandler) => unknown

/** Reads one response to its end, with pauses. */
function see(dispatch: Dispatches, onHead?: (controller: Dispatcher.DispatchController) => void) {
  return new Promise<Seen>((resolve) => {
    let head: { status: number; type: unknown } | undefined
    const parts: Buffer[] = []
    const end = (isWhole: boolean): void =>
      resolve(
        head
          ? { ...head, body: Buffer.concat(parts).toString('latin1'), isWhole }
          : { isWhole: false },
      )
    dispatch({
      onRequestStart() {},
      onResponseStart(controller, status, headers) {
        if (status < 200) return
        head = { status, type: headers['content-type'] }
        onHead?.(controller)
      },
      onResponseData(controller, bytes) {
        parts.push(Buffer.from(bytes))
        controller.pause()
        setImmediate(() => controller.resume())
      },
      onResponseEnd: () => end(true),
      onResponseError: () => end(false),
    })
  })
}

const seeOf = (origin: Origin): Promise<Seen> => see((handler) => origin.dispatch(REQUEST, handler))

async function writeInPieces(socket: Socket, bytes: Buffer, cuts: readonly number[]) {
  let from = 0
  for (const cut of cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b)) {
    if (cut > from) socket.write(bytes.subarray(from, cut))
    from = Math.max(from, cut)
    await nextTurn()
  }
  if (from < bytes.length) socket.write(bytes.subarray(from))
}

const text = fc.string({ maxLength: 60 })
const chunked = fc.array(fc.tuple(text, fc.boolean()), { maxLength: 5 }).map((parts) => {
  const chunks = parts
    .filter(([part]) => part !== '')
    .map(([part, hasExtension]) => {
      const bytes = Buffer.from(part, 'utf8').toString('latin1')
      return `${bytes.length.toString(16)}${hasExtension ? ';a=b' : ''}\r\n${bytes}\r\n`
    })
  return { header: 'transfer-encoding: chunked', body: `${chunks.join('')}0\r\n\r\n` }
})
const counted = text.map((part) => {
  const body = Buffer.from(part, 'utf8').toString('latin1')
  return { header: `content-length: ${body.length}`, body }
})
const untilClose = text.map((part) => ({
  header: 'x-open: end',
  body: Buffer.from(part, 'utf8').toString('latin1'),
}))

const response = fc.record({
  interim: fc.integer({ min: 0, max: 2 }),
  status: fc.constantFrom(200, 201, 400, 429, 500, 503),
  content: fc.oneof(chunked, counted, untilClose),
  connection: fc.constantFrom('', 'connection: close\r\n', 'connection: keep-alive\r\n'),
  type: fc.constantFrom('application/json', 'text/event-stream; charset=utf-8'),
  /** The upstream closes the connection after so many bytes. */
  lostAt: fc.option(fc.nat({ max: 300 }), { freq: 4, nil: undefined }),
  cuts: fc.array(fc.nat({ max: 400 }), { maxLength: 6 }),
})

test('any response, cut anywhere and lost anywhere, is read as undici reads it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(response, { minLength: 1, maxLength: 4 }), async (responses) => {
      const read = async (dispatch: Dispatches): Promise<Seen[]> => {
        const seen: Seen[] = []
        for (const one of responses) {
          const { interim, status, content, connection, type, lostAt, cuts } = one
          serve = (socket) => {
            const early = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(interim)
            const head = `HTTP/1.1 ${status} x\r\ncontent-type: ${type}\r\n${connection}${content.header}\r\n\r\n`
            const all = Buffer.from(early + head + content.body, 'latin1')
            const isOpen =
              content.header !== 'x-open: end' && connection !== 'connection: close\r\n'
            void writeInPieces(socket, all.subarray(0, lostAt), cuts).then(() => {
              if (!isOpen || (lostAt !== undefined && lostAt < all.length)) socket.end()
            })
          }
          seen.push(await see(dispatch))
        }
        return seen
      }
      const origin = openOrigin(url, OPTIONS)
      const pool = new Pool(url.origin, { connections: 4, pipelining: 1 })
      try {
        const ours = await read((handler) => origin.dispatch(REQUEST, handler))
        const theirs = await read((handler) => pool.dispatch(REQUEST, handler))
        assert.deepEqual(ours, theirs)
      } finally {
        origin.destroy()
        await pool.destroy()
      }
    }),
    { numRuns: 150 },
  )
})

const AMBIGUOUS = {
  'two lengths': 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{} ',
  'a length and chunks':
    'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
  'another coding': 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
  'a negative length': 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n',
  'a signed length': 'HTTP/1.1 200 OK\r\ncontent-length: +2\r\n\r\n{}',
  'a list of lengths': 'HTTP/1.1 200 OK\r\ncontent-length: 2, 2\r\n\r\n{}',
  'a folded header': 'HTTP/1.1 200 OK\r\nx: y\r\n content-length: 2\r\n\r\n',
  'a header without a name': 'HTTP/1.1 200 OK\r\n: y\r\n\r\n',
  'a space before the colon': 'HTTP/1.1 200 OK\r\ncontent-length : 2\r\n\r\n{}',
  'a size that is no number':
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n',
  'a chunk that is longer than its size':
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n',
  'an endless size':
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}',
  'another protocol': 'SSH-2.0-OpenSSH_9.2\r\n\r\n\r\n\r\n',
  'an upgrade': 'HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n',
  'endless interim responses': 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1_000),
  'an endless head': `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(100_000)}`,
  'endless trailers': `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n${'x: y\r\n'.repeat(10_000)}`,
  'an endless extension': `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;${'x'.repeat(100_000)}`,
}

for (const [name, bytes] of Object.entries(AMBIGUOUS))
  test(`a response with ${name} fails, and its connection is closed`, async () => {
    const origin = openOrigin(url, OPTIONS)
    let socket: Socket | undefined
    serve = (opened) => {
      socket = opened
      opened.write(bytes, 'latin1')
    }
    const { isWhole } = await seeOf(origin)
    assert.equal(isWhole, false)
    await new Promise<void>((resolve) => {
      if (socket?.closed) resolve()
      else socket?.once('close', () => resolve())
    })
    origin.destroy()
  })

test('bytes after the end of a response are never read as the next response', async () => {
  const origin = openOrigin(url, { ...OPTIONS, connectionsMax: 1 })
  const answer = (body: string): string =>
    `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  let count = 0
  serve = (socket) => socket.write(answer(`own ${(count += 1)}`) + answer('of another'))
  const seen = await Promise.all(Array.from({ length: 6 }, () => seeOf(origin)))
  assert.deepEqual(
    seen.map(({ body = '' }) => body).toSorted((a, b) => a.localeCompare(b)),
    Array.from({ length: 6 }, (_, index) => `own ${index + 1}`),
  )
  // Also if they come later, on the idle connection.
  serve = (socket) => {
    socket.write(answer(`own ${(count += 1)}`))
    setImmediate(() => socket.write(answer('of another')))
  }
  for (let round = 0; round < 5; round += 1) {
    assert.match((await seeOf(origin)).body ?? '', /^own/)
    while (sockets.size > 0) await nextTurn()
  }
  origin.destroy()
})

test('requests wait for a connection in their order, and never share one', async () => {
  const origin = openOrigin(url, { ...OPTIONS, connectionsMax: 2 })
  const ports = new Set<number | undefined>()
  const order: string[] = []
  const running: Socket[] = []
  // Answers two at a time, so that both connections are needed.
  serve = (socket, request) => {
    ports.add(socket.remotePort)
    order.push(/n: (\d+)/.exec(request)?.[1] ?? '')
    running.push(socket)
    if (running.length < 2) return
    for (const one of running.splice(0)) one.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
  }
  const seen = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      see((handler) => origin.dispatch({ ...REQUEST, headers: { n: String(n) } }, handler)),
    ),
  )
  assert.ok(seen.every(({ body }) => body === 'ok'))
  assert.deepEqual(
    order.map(Number),
    Array.from({ length: 20 }, (_, n) => n),
  )
  assert.equal(ports.size, 2)
  origin.destroy()
})

test('an aborted request ends at once, and never disturbs the one after it', async () => {
  const origin = openOrigin(url, { ...OPTIONS, connectionsMax: 1 })
  serve = (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 200\r\n\r\nhalf')
  const ports = new Set<number | undefined>()
  let first: Dispatcher.DispatchController | undefined
  const seen = await see(
    (handler) => origin.dispatch(REQUEST, handler),
    (controller) => {
      first = controller
      setImmediate(() => controller.abort(new Error('no longer needed')))
    },
  )
  assert.equal(seen.isWhole, false)
  serve = (socket) => {
    ports.add(socket.remotePort)
    first?.abort(new Error('late'))
    first?.pause()
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
  }
  for (let round = 0; round < 3; round += 1) {
    const { body } = await see(
      (handler) => origin.dispatch(REQUEST, handler),
      (controller) => (first = controller),
    )
    assert.equal(body, 'ok')
  }
  assert.equal(ports.size, 1)
  origin.destroy()
})

test('a request that is aborted before it is sent reaches nobody, and its connection goes on', async () => {
  const origin = openOrigin(url, { ...OPTIONS, connectionsMax: 1 })
  let requests = 0
  serve = (socket) => {
    requests += 1
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
  }
  const error = await new Promise<Error>((resolve) =>
    origin.dispatch(REQUEST, {
      onRequestStart: (controller) => controller.abort(new Error('gone')),
      onResponseError: (_controller, reason) => resolve(reason),
    }),
  )
  assert.equal(error.message, 'gone')
  assert.equal((await seeOf(origin)).body, 'ok')
  assert.equal(requests, 1)
  origin.destroy()
})

test('an upstream that closes idle connections soon is not asked over one of them', async () => {
  const origin = openOrigin(url, OPTIONS)
  const ports = new Set<number | undefined>()
  serve = (socket) => {
    ports.add(socket.remotePort)
    socket.write('HTTP/1.1 200 OK\r\nkeep-alive: timeout=1\r\ncontent-length: 2\r\n\r\nok')
  }
  for (let round = 0; round < 3; round += 1) assert.equal((await seeOf(origin)).body, 'ok')
  assert.equal(ports.size, 3)
  origin.destroy()
})

test('no head in time, nobody there, and the end of the client: each request fails', async () => {
  const impatient = openOrigin(url, { ...OPTIONS, headTimeoutMs: 30 })
  serve = () => {}
  assert.equal((await seeOf(impatient)).isWhole, false)
  impatient.destroy()

  const closed = createServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const { port } = closed.address() as AddressInfo
  closed.close()
  const nobody = openOrigin(new URL(`http://127.0.0.1:${port}`), { ...OPTIONS, connectionsMax: 2 })
  const failed = await Promise.all(Array.from({ length: 5 }, () => seeOf(nobody)))
  assert.ok(failed.every(({ isWhole }) => !isWhole))
  nobody.destroy()

  const origin = openOrigin(url, { ...OPTIONS, connectionsMax: 1 })
  const waiting = [seeOf(origin), seeOf(origin)]
  await nextTurn()
  origin.destroy()
  for (const { isWhole } of await Promise.all(waiting)) assert.equal(isWhole, false)
  assert.equal((await seeOf(origin)).isWhole, false)
})

test('a header cannot begin another line', () => {
  const origin = openOrigin(url, OPTIONS)
  for (const value of ['a\r\nx: y', 'a\nx: y', 'a\rx'])
    assert.throws(() => origin.dispatch({ ...REQUEST, headers: { a: value } }, {}), TypeError)
  origin.destroy()
})

test('a configured host takes the place of that of the address, and there is one', async () => {
  const origin = openOrigin(url, OPTIONS)
  const hosts: string[][] = []
  serve = (socket, request) => {
    hosts.push(request.match(/^host: .*$/gim)?.map((line) => line.slice('host: '.length)) ?? [])
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
  }
  for (const headers of [{}, { Host: 'models.example' }])
    await see((handler) => origin.dispatch({ ...REQUEST, headers }, handler))
  assert.deepEqual(hosts, [[url.host], ['models.example']])
  origin.destroy()
})
