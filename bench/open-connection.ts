/** The connections of load generators: raw sockets, because a client library would cost more than its target. */
import { connect, type Socket } from 'node:net'

export interface Endpoint {
  readonly port: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Headers by which connections differ, in turn: those of one customer each. */
  readonly callers?: readonly Readonly<Record<string, string>>[]
}

/** Reads are handled before the next one, so all connections share one buffer. */
const readBuffer = Buffer.allocUnsafe(256 * 1024)

export function openConnection(port: number, read: (bytes: Buffer) => void): Socket {
  return connect({
    host: '127.0.0.1',
    port,
    noDelay: true,
    onread: {
      buffer: readBuffer,
      callback: (length, buffer) => {
        read((buffer as Buffer).subarray(0, length))
        return true
      },
    },
  })
}

/** The requests of the callers, in turn; of one caller without a list of them. */
export function requestsOf(endpoint: Endpoint, body: string): (connection: number) => Buffer {
  const { callers = [{}], headers } = endpoint
  const requests = callers.map((own) =>
    requestBytes({ ...endpoint, headers: { ...headers, ...own } }, body),
  )
  return (connection) => requests[connection % requests.length] as Buffer
}

/** The bytes of a POST request with this JSON. */
function requestBytes({ port, path, headers }: Endpoint, body: string): Buffer {
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\n` +
      Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('') +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}
