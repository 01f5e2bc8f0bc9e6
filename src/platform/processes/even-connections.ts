/**
 * Keeps the connections of the workers even. The operating system gives a new connection to any worker that is free to
 * accept it, so a worker may have got too many, and a new one has none. A worker above its share closes the connections
 * in excess after an answer (`Connection: close`), and their clients connect anew. No request is lost.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface EvenConnections {
  /** Connections that carried a request since the last call, for the parent; `mean` is that of all workers. */
  report(mean: number): number
}

export function evenConnections(server: Server): EvenConnections {
  const busy = new Map<Socket, number>()
  let used = new Set<Socket>()
  let toClose = 0

  function onRequest({ socket }: IncomingMessage, response: ServerResponse): void {
    used.add(socket)
    busy.set(socket, (busy.get(socket) ?? 0) + 1)
    if (toClose > 0 && response.shouldKeepAlive) {
      toClose -= 1
      response.shouldKeepAlive = false
    }
    response.once('close', () => {
      const left = (busy.get(socket) ?? 1) - 1
      if (left > 0) busy.set(socket, left)
      else busy.delete(socket)
    })
  }

  server.prependListener('request', onRequest)
  return {
    report(mean) {
      const own = used.size
      // Half of the excess at a time: where the closed ones go is not known until the next report.
      toClose = Math.ceil(Math.max(0, own - Math.ceil(mean)) / 2)
      used = new Set(busy.keys())
      return own
    },
  }
}
