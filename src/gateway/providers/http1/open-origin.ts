/**
 * The connections to one upstream, in HTTP/1.1. A general client was measured to take a tenth of the gateway's time for
 * a plain answer (bench/HISTORY.md); `bench/turns/with-undici.ts` is the switch that measures it again.
 */
import type { LookupFunction } from 'node:net'
import { buildConnector, errors, type Dispatcher } from 'undici'
import { Connection } from './connection.ts'

export interface OriginOptions {
  readonly connectTimeoutMs: number
  /** Until the head of a response. The handler limits the time of the body. */
  readonly headTimeoutMs: number
  readonly connectionsMax: number
  /** How long an unused connection is kept, unless the upstream closes it earlier. */
  readonly keepAliveMs: number
  /** Resolves the name of the host. Default: the system's resolver. */
  readonly lookup?: LookupFunction | undefined
}

export interface OriginRequest {
  /** With the query. */
  readonly path: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Origin {
  /** Sends a request as soon as a connection is free; requests wait in their order. */
  dispatch(request: OriginRequest, handler: Dispatcher.DispatchHandler): void
  /** Closes all connections; running and waiting requests fail. */
  destroy(): void
}

interface Waiting {
  readonly head: string
  readonly body: string
  readonly handler: Dispatcher.DispatchHandler
}

/** Ends the unused connections whose time is over. */
const SWEEP_MS = 1_000

export function openOrigin(url: URL, options: OriginOptions): Origin {
  const { headTimeoutMs, connectionsMax, keepAliveMs, lookup } = options
  // Only HTTP/1.1 is spoken; a connector without this option offers HTTP/2, too.
  const connect = buildConnector({
    timeout: options.connectTimeoutMs,
    allowH2: false,
    ...(lookup && { lookup }),
  })
  const { host, protocol, port } = url
  // An address of version 6 is in brackets, which only belong to the URL.
  const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const waiting: Waiting[] = []
  /** Unused connections, the last used one at the end, with the time until which they are kept. */
  const idle: { connection: Connection; untilMs: number }[] = []
  const open = new Set<Connection>()
  let connecting = 0
  let isDestroyed = false
  const sweeper = setInterval(sweep, SWEEP_MS)
  sweeper.unref()

  function sweep(): void {
    const nowMs = performance.now()
    for (const { connection } of idle.filter(({ untilMs }) => untilMs <= nowMs)) end(connection)
  }

  function end(connection: Connection): void {
    connection.close(new errors.InformationalError('the connection was unused'))
  }

  const events = {
    idle(connection: Connection, msKept: number): void {
      const next = waiting.shift()
      if (next) send(connection, next)
      else idle.push({ connection, untilMs: performance.now() + msKept })
    },
    closed(connection: Connection): void {
      open.delete(connection)
      const at = idle.findIndex((one) => one.connection === connection)
      if (at !== -1) idle.splice(at, 1)
      connectForWaiting()
    },
  }

  function send(connection: Connection, { head, body, handler }: Waiting): void {
    connection.send({ head, body, headTimeoutMs, handler })
  }

  function takeIdle(): Connection | undefined {
    for (let last = idle.pop(); last; last = idle.pop()) {
      if (last.untilMs > performance.now()) return last.connection
      end(last.connection)
    }
    return undefined
  }

  /** Each waiting request has a connection on its way, as far as the limit allows. */
  function connectForWaiting(): void {
    if (isDestroyed) return
    while (connecting < waiting.length && open.size + connecting < connectionsMax) connectOne()
  }

  function connectOne(): void {
    connecting += 1
    connect({ hostname, host, protocol, port }, (error, socket) => {
      connecting -= 1
      if (isDestroyed) return void socket?.destroy()
      if (socket) {
        const connection = new Connection(socket, keepAliveMs, events)
        open.add(connection)
        events.idle(connection, keepAliveMs)
      } else {
        fail(waiting.shift(), error)
        connectForWaiting()
      }
    })
  }

  return {
    dispatch({ path, method, headers, body }, handler) {
      const request = { head: headOf(method, path, host, headers), body, handler }
      if (isDestroyed) return fail(request, new errors.ClientDestroyedError())
      const connection = takeIdle()
      if (connection) return send(connection, request)
      waiting.push(request)
      connectForWaiting()
    },
    destroy() {
      isDestroyed = true
      clearInterval(sweeper)
      const error = new errors.ClientDestroyedError()
      for (const connection of open) connection.close(error)
      for (const request of waiting.splice(0)) fail(request, error)
    },
  }
}

function fail(request: Waiting | undefined, error: Error): void {
  request?.handler.onResponseError?.(NO_CONTROLLER, error)
}

/** Of a request that never had a connection. */
const NO_CONTROLLER: Dispatcher.DispatchController = {
  paused: false,
  aborted: true,
  reason: null,
  abort() {},
  pause() {},
  resume() {},
}

const LINE_END = /[\r\n]/

/** The request line and the headers. Throws a TypeError if a value would begin another line. */
function headOf(
  method: string,
  path: string,
  host: string,
  headers: Readonly<Record<string, string>>,
): string {
  let head = `${method} ${path} HTTP/1.1\r\nconnection: keep-alive\r\n`
  // An upstream behind a proxy may be configured with the name of another host.
  let hasHost = false
  for (const name in headers) {
    const line = `${name}: ${headers[name]}`
    if (LINE_END.test(line)) throw new TypeError(`the header ${name} has a line end`)
    hasHost ||= name.toLowerCase() === 'host'
    head += `${line}\r\n`
  }
  return hasHost ? head : `${head}host: ${host}\r\n`
}
