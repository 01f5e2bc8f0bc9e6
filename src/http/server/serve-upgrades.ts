/**
 * WebSockets begin as requests of the server, so that they pass its hooks, its limits and its log; a route that takes one
 * gets its connection. Everything else that asks for an upgrade, such as HTTP/2, is answered as if it did not.
 */
import { ServerResponse, type IncomingMessage, type Server } from 'node:http'
import type { Socket } from 'node:net'

export interface Upgrade {
  readonly socket: Socket
  /** What the client sent behind the head of its request. */
  readonly head: Buffer
}

const upgrades = new WeakMap<IncomingMessage, Upgrade>()

/** The connection of a request for a WebSocket; undefined for any other. */
export function upgradeOf(request: IncomingMessage): Upgrade | undefined {
  return upgrades.get(request)
}

/** Whether a request becomes a WebSocket, for the options of a server. An older platform does not ask, and has none. */
export function isForWebSocket({ method, headers, url = '' }: IncomingMessage): boolean {
  return method === 'GET' && /^websocket$/i.test(headers.upgrade ?? '') && RESPONSES.test(url)
}

/** As clients may write it: see `clientPath`. */
const RESPONSES = /\/responses\/?(?:\?|$)/

export function serveUpgrades(server: Server): void {
  if (!('shouldUpgradeCallback' in server)) return
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(socket)
    // A refusal ends the connection: nobody reads it as HTTP any more.
    response.once('finish', () => socket.destroySoon())
    upgrades.set(request, { socket, head })
    server.emit('request', request, response)
  })
}
