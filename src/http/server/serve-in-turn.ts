import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** More requests than this that wait on one connection end it. Clients that send before the answer send a few. */
const WAITING_MAX = 16

interface Line {
  /** The one that is answered now. */
  serving: readonly [IncomingMessage, ServerResponse] | undefined
  readonly waiting: [IncomingMessage, ServerResponse][]
}

const lines = new WeakMap<Socket, Line>()

/**
 * Ends the connection behind the answer to a whole request that is under way, and ignores what follows the request.
 * Returns false if there is none.
 */
export function endAfterAnswer(socket: Socket): boolean {
  const line = lines.get(socket)
  const [request, response] = line?.serving ?? []
  if (!line || !response || !request?.complete || response.destroyed) return false
  socket.pause()
  drop(line)
  response.once('close', () => socket.destroySoon())
  return true
}

/**
 * Serves the requests of one connection one after the other. The platform begins all that were sent at once, and
 * also those behind an answer that ends the connection, which nobody will ever read (RFC 9112, 9.6). While one waits,
 * the connection is not read.
 */
export function serveInTurn(server: Server): void {
  const [handle] = server.listeners('request') as [RequestListener]

  function serve(
    socket: Socket,
    line: Line,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    line.serving = [request, response]
    response.once('close', () => {
      // Later, so that a connection with many requests does not keep the others waiting.
      if (line.waiting.length > 0) setImmediate(serveNext, socket, line)
      else line.serving = undefined
    })
    handle(request, response)
  }

  function serveNext(socket: Socket, line: Line): void {
    const next = socket.writable ? line.waiting.shift() : drop(line)
    if (line.waiting.length === 0) socket.resume()
    if (next) serve(socket, line, ...next)
    else line.serving = undefined
  }

  server.on('connection', (socket: Socket) => {
    const line: Line = { serving: undefined, waiting: [] }
    lines.set(socket, line)
    socket.once('close', () => drop(line))
  })
  server.off('request', handle)
  server.on('request', (request, response) => {
    const { socket } = request
    const line = lines.get(socket)
    if (!line || !socket.writable) return leave(response)
    if (!line.serving) return serve(socket, line, request, response)
    line.waiting.push([request, response])
    if (line.waiting.length > WAITING_MAX) socket.destroy()
    // After this read: at the end of each request the platform goes on to read.
    else if (line.waiting.length === 1) setImmediate(pause, socket, line)
  })
}

function pause(socket: Socket, { waiting }: Line): void {
  if (waiting.length > 0) socket.pause()
}

function drop({ waiting }: Line): void {
  for (const [, response] of waiting.splice(0)) leave(response)
}

/** The platform says only to the answer whose turn it is that its client is gone. */
function leave(response: ServerResponse): void {
  response.emit('close')
}

/**
 * A value kept with a request. It is a field of the request and not an entry of a WeakMap: such entries are visited by
 * every collection of young objects, and there is one for each request in flight.
 */
interface RequestSlot<Value> {
  set(request: FastifyRequest, value: Value): void
  get(request: FastifyRequest): Value | undefined
}

export function createRequestSlot<Value>(name: string): RequestSlot<Value> {
  const field = Symbol(name)
  type Carrier = { [field]?: Value }
  return {
    set(request, value) {
      ;(request as Carrier)[field] = value
    },
    get: (request) => (request as Carrier)[field],
  }
}
