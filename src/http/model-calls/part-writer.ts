import { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Writable } from 'node:stream'

/** Writes a streamed answer of HTTP/1.1 behind the head of its response. */
export interface PartWriter {
  /** Whether a part was written, and the head with it. */
  hasWritten(): boolean
  /** Returns false if the connection is full. */
  write(text: string): boolean
  /** Writes the last part and the end of the answer. */
  end(text: string): void
}

/**
 * A part is framed here, as a chunk of the transfer coding: one write of one string, in place of the platform's four.
 * For this the platform must frame nothing while `chunkedEncoding` is false, which it does not promise. So it is tried
 * once, and a platform that behaves otherwise frames each part itself.
 */
export function createPartWriter(raw: ServerResponse, canFrame = CAN_FRAME): PartWriter {
  let hasWritten = false

  /** A response has a socket only while its turn is on it, and no chunks for a client of HTTP/1.0. */
  function socketForChunks(): Socket | undefined {
    return canFrame && raw.chunkedEncoding ? (raw.socket ?? undefined) : undefined
  }

  return {
    hasWritten: () => hasWritten,
    write(text) {
      // An empty chunk would be the end of the answer.
      if (text === '') return true
      const socket = socketForChunks()
      const isFirst = !hasWritten
      hasWritten = true
      if (!socket) return raw.write(text)
      const part = framed(text)
      if (!isFirst) return socket.write(part)
      // The platform writes the head along, and frames nothing meanwhile.
      raw.chunkedEncoding = false
      const isFlowing = raw.write(part)
      raw.chunkedEncoding = true
      return isFlowing
    },
    end(text) {
      if (!hasWritten || !socketForChunks()) return void raw.end(text)
      raw.chunkedEncoding = false
      raw.end(`${text === '' ? '' : framed(text)}0\r\n\r\n`)
    },
  }
}

/** Whether responses of the platform behave as `createPartWriter` needs, tried on one without a connection. */
export function findCanFrame(Response: typeof ServerResponse = ServerResponse): boolean {
  const written: string[] = []
  const socket = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written.push(chunk.toString('latin1'))
      done()
    },
  }) as Socket
  try {
    const request = new IncomingMessage(socket)
    const raw = new Response(Object.assign(request, { httpVersionMajor: 1, httpVersionMinor: 1 }))
    raw.assignSocket(socket)
    raw.writeHead(200)
    const writer = createPartWriter(raw, true)
    for (const text of ['one', 'two']) writer.write(text)
    writer.end('three')
    while (socket.writableCorked > 0) socket.uncork()
    return /^HTTP\/1\.1 200 OK\r\n(?:[^\r\n]+\r\n)*\r\n3\r\none\r\n3\r\ntwo\r\n5\r\nthree\r\n0\r\n\r\n$/.test(
      written.join(''),
    )
  } catch {
    return false
  }
}

const CAN_FRAME = findCanFrame()

/** A chunk of chunked transfer coding (RFC 9112, section 7.1). */
function framed(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
}
