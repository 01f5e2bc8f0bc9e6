import type { Socket } from 'node:net'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Writable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { EVENT_STREAM, type Client } from '../../gateway/calls/client.ts'
import type { Refusal } from '../../gateway/calls/refusal.ts'
import type { Limits } from '../../gateway/calls/limits.ts'
import { endsConnection, limitHeaders, requestIdHeaders } from '../rest/response-headers.ts'
import { cutOff, hasLeft, onLeave } from '../rest/leaving-client.ts'
import { originOf } from '../rest/request-headers.ts'
import { KEEP_ALIVE_COMMENT, type KeepAlives, type KeptAlive } from './keep-alives.ts'
import type { ErrorFormat } from '../rest/error-formats.ts'

/** A client that reads nothing for this long, while its connection is full, is disconnected. */
const WRITE_STALL_MS = 60_000

/**
 * While a stream waits for its client, its upstream is not read either. Proxies in front of upstreams close a connection
 * that nobody reads for a minute, and with it the usage that the upstream bills would be lost. After a client is cut off,
 * the rest of the stream is read and charged.
 */
const STREAM_STALL_MS = 30_000

/**
 * Intervals before a stream is opened without its first chunk: an error that comes earlier still has a status, by which
 * client libraries try again.
 */
const FIRST_AFTER = 2

/** Shorter answers are not counted: the number of connections bounds them. */
const KEPT_FROM_CHARACTERS = 64 * 1024

interface HttpClientOptions {
  readonly publicUrl: string | undefined
  readonly errorFormat: ErrorFormat
  /** Called with the size of a large answer that waits for its client. */
  readonly keep?: (bytes: number) => void
  /** Needed for streams. */
  readonly keepAlives?: KeepAlives
  /** A minute if not given. */
  readonly writeStallMs?: number
}

/** A model call's client over the raw response: answers do not pass through the framework's serialiser. */
export function createHttpClient(
  request: FastifyRequest,
  reply: FastifyReply,
  { publicUrl, errorFormat, keep, keepAlives, writeStallMs = WRITE_STALL_MS }: HttpClientOptions,
): Client {
  const { raw } = reply
  reply.hijack()
  const parts = createPartWriter(raw)
  const { contentType = EVENT_STREAM, keepAlive: quiet = KEEP_ALIVE_COMMENT } =
    errorFormat.stream ?? {}
  let isStreaming = false
  let kept: KeptAlive | undefined

  function keepAlive(limits: Limits): void {
    // What waits for the client keeps the connection alive, too.
    if (raw.destroyed || raw.writableEnded || raw.writableLength > 0) return
    beginStream(limits)
    parts.write(quiet)
  }

  function watch(limits: Limits, firstAfter: number): void {
    if (kept || !keepAlives) return
    const watched = keepAlives.watch(() => keepAlive(limits), firstAfter)
    raw.once('close', () => watched.end())
    kept = watched
  }

  function beginStream(limits: Limits): void {
    if (isStreaming) return
    isStreaming = true
    head(200, limits, {
      'content-type': contentType,
      'cache-control': 'no-cache',
      // Asks proxies such as nginx not to buffer the stream.
      'x-accel-buffering': 'no',
    })
    // Sent with the first chunk if that is here already, else at once, so that the client sees that it was admitted.
    setImmediate(() => {
      if (!parts.hasWritten() && !raw.writableEnded && !raw.destroyed) raw.flushHeaders()
    })
  }

  function endStream(text: string): void {
    kept?.end()
    parts.end(text)
    limitStall()
  }

  function head(status: number, limits: Limits, more: Record<string, string | number>): void {
    if (raw.headersSent || raw.destroyed) return
    if (endsConnection(status)) raw.shouldKeepAlive = false
    raw.writeHead(status, {
      ...requestIdHeaders(request.id, request.headers['x-svc-request-id']),
      ...limitHeaders(limits),
      ...more,
    })
  }

  function answer(
    status: number,
    body: string | Buffer,
    limits: Limits,
    more: Record<string, string | number> = {},
  ): void {
    head(status, limits, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      ...more,
    })
    raw.end(body)
    limitStall()
    if (body.length > KEPT_FROM_CHARACTERS && !raw.destroyed) keep?.(body.length)
  }

  /** If the connection is full, nothing else would ever end a client that does not read. */
  function limitStall(): void {
    const { socket } = raw
    if (!socket) raw.once('socket', limitStallOf)
    else if (socket.writableLength > 0) limitStallOf(socket)
  }

  function limitStallOf(socket: Socket): void {
    socket.setTimeout(writeStallMs)
    // The next answer on the connection may be long in coming.
    raw.prependOnceListener('finish', () => socket.setTimeout(0))
  }

  return {
    refuse(refused, limits) {
      kept?.end()
      if (isStreaming) return endStream(errorFormat.eventOf(refused))
      answer(refused.status, errorFormat.bodyOf(refused, request.id), limits, retryHeaders(refused))
    },
    answer(body, limits, headers) {
      kept?.end()
      answer(200, body, limits, headers)
    },
    expectStream: (limits) => watch(limits, FIRST_AFTER),
    beginStream(limits) {
      watch(limits, 1)
      kept?.sent()
      beginStream(limits)
    },
    write(text, waitMsMax) {
      kept?.sent()
      if (raw.destroyed || parts.write(text)) return undefined
      const { socket } = raw
      return new Promise((resolve) => {
        const timer = setTimeout(
          () => cutOff(raw),
          Math.min(writeStallMs, STREAM_STALL_MS, waitMsMax),
        )
        const done = (): void => {
          clearTimeout(timer)
          socket?.off('drain', done)
          raw.off('drain', done)
          raw.off('close', done)
          resolve()
        }
        socket?.on('drain', done)
        raw.on('drain', done)
        raw.on('close', done)
      })
    },
    endStream,
    hasLeft: () => hasLeft(raw),
    cutOff: () => cutOff(raw),
    origin: () => originOf(request, publicUrl),
    onLeave: (callback) => onLeave(raw, callback),
  }
}

/** Client libraries ask for these; without them, an agent repeats the refusal of its key for minutes. */
function retryHeaders({ status, retryAfterSeconds }: Refusal): Record<string, string | number> {
  if (retryAfterSeconds !== undefined)
    return { 'retry-after': retryAfterSeconds, 'x-should-retry': 'true' }
  return status < 500 ? { 'x-should-retry': 'false' } : {}
}

/** Writes a streamed answer of HTTP/1.1 behind the head of its response. */
interface PartWriter {
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
