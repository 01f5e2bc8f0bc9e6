import type { Socket } from 'node:net'
import type { Dispatcher } from 'undici'
import {
  BadResponse,
  ResponseReader,
  type ResponseHandler,
} from '../../../platform/lib/response-reader.ts'

export interface Request {
  /** The request line and the headers, without the empty line. */
  readonly head: string
  readonly body: string
  /** Milliseconds until the head of the response. */
  readonly headTimeoutMs: number
  readonly handler: Dispatcher.DispatchHandler
}

/** Thrown when no head of a response came in time. */
export class HeadTimeout extends Error {
  readonly code = 'HEAD_TIMEOUT'
  constructor(ms: number) {
    super(`no answer within ${ms} ms`)
    this.name = 'HeadTimeout'
  }
}

export interface ConnectionEvents {
  /** A response has ended, and the connection may carry another request within this time. */
  idle(connection: Connection, keepAliveMs: number): void
  closed(connection: Connection): void
}

/** A body of at most so many characters is sent in one piece with its head. */
const ONE_WRITE_CHARACTERS_MAX = 16 * 1024
/** A connection is given up this long before the upstream says that it closes it. */
const KEEP_ALIVE_MARGIN_MS = 1_000

/** A connection to an upstream. It carries one request at a time. */
export class Connection implements ResponseHandler {
  readonly #socket: Socket
  readonly #events: ConnectionEvents
  readonly #reader = new ResponseReader(this)
  readonly #keepAliveMsMax: number
  #keepAliveMs: number
  #running: Running | undefined
  #isClosed = false

  constructor(socket: Socket, keepAliveMsMax: number, events: ConnectionEvents) {
    this.#socket = socket
    this.#keepAliveMsMax = keepAliveMsMax
    this.#keepAliveMs = keepAliveMsMax
    this.#events = events
    socket.setNoDelay(true)
    socket.on('data', (bytes: Buffer) => this.#read(bytes))
    socket.on('end', () => this.#readEnd())
    socket.on('error', (error) => this.close(error))
    socket.on('close', () => this.close(new BadResponse('the connection was closed')))
  }

  /** The connection must be idle. */
  send({ head, body, headTimeoutMs, handler }: Request): void {
    const running = new Running(this, handler)
    handler.onRequestStart?.(running, undefined)
    if (running.reason) {
      this.#events.idle(this, this.#keepAliveMs)
      return running.fail(running.reason)
    }
    this.#running = running
    this.#reader.expect()
    running.awaitHead(headTimeoutMs)
    const text = `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n`
    if (body.length <= ONE_WRITE_CHARACTERS_MAX) return void this.#socket.write(text + body)
    this.#socket.cork()
    this.#socket.write(text)
    this.#socket.write(body)
    this.#socket.uncork()
  }

  /** Ends a running request with this error. */
  close(error: Error): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#reader.stop()
    this.#socket.destroy()
    this.#events.closed(this)
    const running = this.#running
    this.#running = undefined
    running?.fail(error)
  }

  // A request may have ended when its handler calls one of these, and another one may run already.

  pause(running: Running): void {
    if (this.#running === running) this.#socket.pause()
  }

  resume(running: Running): void {
    if (this.#running === running) this.#socket.resume()
  }

  abort(running: Running, error: Error): void {
    if (this.#running === running) this.close(error)
  }

  head(status: number, headers: Record<string, string | string[]>): void {
    this.#keepAliveMs = keepAliveMsOf(headers['keep-alive'], this.#keepAliveMsMax)
    this.#running?.begin(status, headers)
  }

  data(bytes: Buffer): void {
    this.#running?.receive(bytes)
  }

  end(canReuse: boolean): void {
    const running = this.#running
    this.#running = undefined
    // A response may come before its request was sent as a whole; the rest must not precede another request.
    const isReused = canReuse && this.#keepAliveMs > 0 && this.#socket.writableLength === 0
    if (isReused) {
      this.#socket.resume()
      running?.end()
      this.#events.idle(this, this.#keepAliveMs)
    } else {
      this.close(new BadResponse('the connection is not used again'))
      running?.end()
    }
  }

  #read(bytes: Buffer): void {
    try {
      this.#reader.push(bytes)
    } catch (error) {
      this.close(error as Error)
    }
  }

  #readEnd(): void {
    try {
      this.#reader.close()
      this.close(new BadResponse('the connection was closed'))
    } catch (error) {
      this.close(error as Error)
    }
  }
}

/** One request on a connection, for its handler. */
class Running implements Dispatcher.DispatchController {
  readonly #connection: Connection
  readonly #handler: Dispatcher.DispatchHandler
  #timer: NodeJS.Timeout | undefined
  paused = false
  aborted = false
  reason: Error | null = null

  constructor(connection: Connection, handler: Dispatcher.DispatchHandler) {
    this.#connection = connection
    this.#handler = handler
  }

  abort(reason: Error): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    this.#connection.abort(this, reason)
  }

  pause(): void {
    this.paused = true
    this.#connection.pause(this)
  }

  resume(): void {
    this.paused = false
    this.#connection.resume(this)
  }

  awaitHead(ms: number): void {
    this.#timer = setTimeout(() => this.abort(new HeadTimeout(ms)), ms)
  }

  begin(status: number, headers: Record<string, string | string[]>): void {
    clearTimeout(this.#timer)
    this.#handler.onResponseStart?.(this, status, headers)
  }

  receive(bytes: Buffer): void {
    this.#handler.onResponseData?.(this, bytes)
  }

  end(): void {
    this.#handler.onResponseEnd?.(this, {})
  }

  fail(error: Error): void {
    clearTimeout(this.#timer)
    this.#handler.onResponseError?.(this, error)
  }
}

/** How long an upstream keeps an idle connection, by its header `Keep-Alive: timeout=5`. */
function keepAliveMsOf(header: string | string[] | undefined, most: number): number {
  const [, seconds] = /\btimeout=(\d{1,6})\b/i.exec(String(header ?? '')) ?? []
  if (seconds === undefined) return most
  return Math.min(most, Number(seconds) * 1_000 - KEEP_ALIVE_MARGIN_MS)
}
