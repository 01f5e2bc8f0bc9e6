import assert from 'node:assert/strict'
import { createServer, request, ServerResponse, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { test } from 'node:test'
import fc, { anyCharacter } from '../../../test/harness/fast-check.ts'
import { createPartWriter, findCanFrame } from './http-client.ts'

type Answer = (raw: ServerResponse) => void

async function withServer(answer: Answer, ask: (port: number) => Promise<void>): Promise<void> {
  const server = createServer((_, raw) => answer(raw))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    await ask((server.address() as AddressInfo).port)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

function stream(parts: readonly string[], last: string, canFrame: boolean | undefined): Answer {
  return (raw) => {
    raw.writeHead(200, { 'content-type': 'text/event-stream' })
    const writer = createPartWriter(raw, canFrame)
    for (const part of parts) writer.write(part)
    writer.end(last)
  }
}

const ask = async (port: number): Promise<string> => {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ port, host: '127.0.0.1', agent: false }, resolve).on('error', reject).end()
  })
  return text(response)
}

for (const canFrame of [true, false]) {
  const way = canFrame ? 'framed here' : 'framed by the platform'

  test(`a client reads the parts as they were written, ${way}`, async () => {
    const part = fc.string({ unit: anyCharacter })
    let answer: Answer = () => {}
    await withServer(
      (raw) => answer(raw),
      (port) =>
        fc.assert(
          fc.asyncProperty(fc.array(part), part, async (parts, last) => {
            answer = stream(parts, last, canFrame)
            const wanted = Buffer.from([...parts, last].join('')).toString()
            assert.equal(await ask(port), wanted)
          }),
          { numRuns: 100 },
        ),
    )
  })

  test(`pipelined answers come whole and in their order, and none has chunks for HTTP/1.0, ${way}`, async () => {
    let answers = 0
    await withServer(
      (raw) => stream([`a${++answers}`, 'b'], 'c', canFrame)(raw),
      async (port) => {
        const exchange = async (requests: string): Promise<string> => {
          const socket = connect(port, '127.0.0.1')
          socket.write(requests)
          return String(await buffer(socket))
        }
        const both = await exchange(
          'GET / HTTP/1.1\r\nhost: a\r\n\r\nGET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
        )
        const bodies = both.split(/HTTP\/1\.1 200 OK\r\n(?:[^\r\n]+\r\n)*\r\n/).slice(1)
        const bodyOf = (nth: number): string => `2\r\na${nth}\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n`
        assert.deepEqual(bodies, [bodyOf(1), bodyOf(2)])
        const old = await exchange('GET / HTTP/1.0\r\n\r\n')
        assert.match(old, /\r\n\r\na3bc$/)
      },
    )
  })
}

test('this platform behaves as needed, and one that always or never frames does not', () => {
  assert.equal(findCanFrame(), true)
  const fixed = (isChunked: boolean): typeof ServerResponse =>
    class extends ServerResponse {
      constructor(asked: IncomingMessage) {
        super(asked)
        Object.defineProperty(this, 'chunkedEncoding', { get: () => isChunked, set() {} })
      }
    } as typeof ServerResponse
  class Throws extends ServerResponse {
    override assignSocket(): never {
      throw new Error('no such method')
    }
  }
  for (const Response of [fixed(true), fixed(false), Throws as typeof ServerResponse])
    assert.equal(findCanFrame(Response), false)
})
