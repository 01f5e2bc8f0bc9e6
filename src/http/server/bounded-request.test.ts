import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { BoundedRequest, TOO_MANY_PARTS } from './bounded-request.ts'

let server: Server

before(async () => {
  server = createServer({ IncomingMessage: BoundedRequest })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})

after(() => server.close())

async function begin(more: string): Promise<[IncomingMessage, ServerResponse, Socket]> {
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.on('error', () => {})
  client.resume()
  const requested = once(server, 'request') as Promise<[IncomingMessage, ServerResponse]>
  client.write(`POST / HTTP/1.1\r\nhost: x\r\n${more}\r\n`)
  return [...(await requested), client]
}

const CHUNKED = 'transfer-encoding: chunked\r\n'
const chunksOf = (bytes: number, count: number, more = ''): string =>
  `${bytes.toString(16)}${more}\r\n${'x'.repeat(bytes)}\r\n`.repeat(count)

async function partsOf(request: IncomingMessage): Promise<Buffer[]> {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  await once(request, 'end')
  return parts
}

for (const [name, bytes, count, more] of [
  ['in chunks of one byte', 1, 5_000, ''],
  ['in chunks of one byte with extensions', 1, 5_000, ';name="value"'],
  ['in many chunks of 40 bytes', 40, 20_000, ''],
] as const)
  test(`a body ${name} is whole, and comes in few parts`, async () => {
    const [request, response, client] = await begin(CHUNKED)
    client.write(`${chunksOf(bytes, count, more)}0\r\ntrailer: x\r\n\r\n`)
    const parts = await partsOf(request)
    assert.equal(Buffer.concat(parts).toString(), 'x'.repeat(bytes * count))
    assert.ok(parts.length <= 2 + (bytes * count) / 4_096, `${parts.length} parts`)
    assert.equal(request.trailers.trailer, 'x')
    response.end()
    client.destroy()
  })

test('what waits of a body that nobody reads does not depend on its chunks', async () => {
  const [request, , client] = await begin(CHUNKED)
  // So small that nobody refuses them: 5,000 of one byte, behind them a few large ones.
  client.write(chunksOf(1, 5_000) + chunksOf(16_000, 40))
  while (request.readableLength < request.readableHighWaterMark) await new Promise(setImmediate)
  const waiting = request.readableLength
  let bytes = 0
  let parts = 0
  await new Promise<void>((resolve) => {
    request.on('data', (part: Buffer) => {
      bytes += part.length
      if (bytes <= waiting) parts += 1
      else resolve()
    })
  })
  assert.ok(parts < 20, `${parts} parts waited`)
  client.destroy()
})

for (const size of [1, 20])
  test(`a body in endless chunks of ${size} bytes is not read on, never looks whole, and ends its connection`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const [request, , client] = await begin(CHUNKED)
    const { socket } = request
    const chunks = chunksOf(size, 1_000)
    let hasEnded = false
    request.on('end', () => (hasEnded = true))
    request.resume()
    const refused = once(request, TOO_MANY_PARTS)
    client.write(`${chunks.repeat(100)}0\r\n\r\n`)
    await refused
    // One read may be on its way.
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    const readBytes = socket.bytesRead
    assert.ok(readBytes < 600_000, `${readBytes} bytes were read`)
    await new Promise((resolve) => client.write(chunks, resolve))
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    assert.equal(socket.bytesRead, readBytes)
    const closed = once(socket, 'close')
    t.mock.timers.tick(10_000)
    await closed
    assert.ok(!hasEnded)
  })
