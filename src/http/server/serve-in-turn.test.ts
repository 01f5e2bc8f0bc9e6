import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import { BoundedRequest } from './bounded-request.ts'
import { endAfterAnswer, serveInTurn } from './serve-in-turn.ts'

let served: [string, ServerResponse][] = []
/** Answers the requests at once, if it is set. */
let answer: ((request: IncomingMessage, response: ServerResponse) => void) | undefined
const server: Server = createServer({ IncomingMessage: BoundedRequest }, (request, response) => {
  served.push([request.url as string, response])
  answer?.(request, response)
})
serveInTurn(server)
server.on('clientError', (_error, socket) => {
  if (!endAfterAnswer(socket as Socket)) socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
})

before(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
beforeEach(() => {
  served = []
  answer = undefined
})
after(() => server.close())

const requestOf = (path: string, more = ''): string =>
  `GET ${path} HTTP/1.1\r\nhost: x\r\n${more}\r\n`
const requests = (count: number): string =>
  Array.from({ length: count }, (_, index) => requestOf(`/${index}`)).join('')
const pathsServed = (): string[] => served.map(([path]) => path)

function send(text: string): Socket {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(text)
  return socket
}

async function readAll(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (part) => (text += String(part)))
  await once(socket, 'close')
  return text
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(setImmediate)
}

test('requests that were sent at once are served one after the other, and answered in their order', async () => {
  const socket = send(requests(10) + requestOf('/last', 'connection: close\r\n'))
  const text = readAll(socket)
  for (let index = 0; index <= 10; index++) {
    await until(() => served.length > index)
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
    assert.equal(served.length, index + 1)
    served[index]?.[1].end(`body of ${served[index]?.[0]};`)
  }
  assert.deepEqual(
    [...(await text).matchAll(/body of ([^;]+);/g)].map(([, path]) => path),
    [...Array.from({ length: 10 }, (_, index) => `/${index}`), '/last'],
  )
})

test('nothing behind an answer that ends the connection is served, and its answers are closed', async () => {
  let closed = 0
  const count = (_request: IncomingMessage, response: ServerResponse): void =>
    void response.once('close', () => (closed += 1))
  server.prependListener('request', count)
  answer = ({ url }, response) => {
    response.shouldKeepAlive = url !== '/2'
    response.end('x')
  }
  const text = await readAll(send(requests(15)))
  server.off('request', count)
  assert.deepEqual(pathsServed(), ['/0', '/1', '/2'])
  assert.equal(text.match(/HTTP\/1\.1 200/g)?.length, 3)
  assert.match(text, /connection: close/i)
  await until(() => closed === 15)
})

test('a connection on which too many requests wait is ended, and what follows is not parsed', async () => {
  let parsed = 0
  let closed = 0
  const count = (_request: IncomingMessage, response: ServerResponse): void => {
    parsed += 1
    response.once('close', () => (closed += 1))
  }
  server.prependListener('request', count)
  await readAll(send(requests(1_000)))
  assert.ok(parsed < 20, String(parsed))
  assert.deepEqual(pathsServed(), ['/0'])
  await until(() => closed === parsed)
  server.off('request', count)
})

test('bytes behind a whole request take the place of no answer: it is sent, and the connection ends', async () => {
  for (const behind of ['\0\x01x', 'GET \0', requestOf('/next')]) {
    served = []
    const isClosing = behind.includes('/next')
    const text = readAll(
      send(requestOf('/paid', isClosing ? 'connection: close\r\n' : '') + behind),
    )
    await until(() => served.length === 1)
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
    served[0]?.[1].end('body of /paid')
    assert.match(await text, /^HTTP\/1\.1 200 [^]*body of \/paid/)
    assert.deepEqual(pathsServed(), ['/paid'])
  }
})

test('while a request waits, its connection is not read; afterwards it is', async () => {
  const opened = once(server, 'connection') as Promise<[Socket]>
  const client = send(requests(5))
  const [socket] = await opened
  await until(() => served.length === 1 && socket.isPaused())
  const { bytesRead } = socket
  await new Promise((resolve) => client.write(requests(10), resolve))
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  assert.equal(socket.bytesRead, bytesRead)
  answer = (_request, response) => void response.end()
  served[0]?.[1].end()
  client.resume()
  await until(() => served.length === 15)
  client.destroy()
})

test('what one connection sent keeps no other waiting', async () => {
  answer = (_request, response) => void response.end()
  const many = send(requests(16))
  many.resume()
  await until(() => served.length > 1)
  const other = send(requestOf('/other'))
  other.resume()
  await until(() => pathsServed().includes('/other'))
  assert.ok(pathsServed().indexOf('/other') < 14, pathsServed().join(' '))
  many.destroy()
  other.destroy()
})
