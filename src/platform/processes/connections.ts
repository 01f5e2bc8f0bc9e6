import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The connections of a server, which can be ended without cutting a request that is on its way. */
export interface ConnectionWatch {
  readonly open: number
  /** From now on every answer ends its connection (`Connection: close`). */
  closeAfterAnswers(): void
  /** Closes the connections on which nothing arrived and nothing was answered for so long. */
  closeQuiet(forMs: number): void
}

interface Watched {
  running: number
  /** Since the last answer ended, or the connection was opened. */
  quietSinceMs: number
  /** More of them now are a request whose head is not whole yet. */
  bytesRead: number
  isArriving: boolean
}

/** A head that does not arrive in this time is given up. */
const HEAD_MS_MAX = 5_000

export function watchConnections(server: Server): ConnectionWatch {
  const sockets = new Map<Socket, Watched>()
  let closesAfterAnswers = false

  server.prependListener('connection', (socket: Socket) => {
    const quietSinceMs = performance.now()
    sockets.set(socket, { running: 0, quietSinceMs, bytesRead: 0, isArriving: false })
    socket.once('close', () => sockets.delete(socket))
  })
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const watched = sockets.get(socket)
    if (watched) watched.running += 1
    if (closesAfterAnswers) response.shouldKeepAlive = false
    response.once('close', () => {
      if (!watched) return
      watched.running -= 1
      watched.quietSinceMs = performance.now()
      watched.bytesRead = socket.bytesRead
      watched.isArriving = false
    })
  })
  return {
    get open() {
      return sockets.size
    },
    closeAfterAnswers() {
      closesAfterAnswers = true
    },
    closeQuiet(forMs) {
      const nowMs = performance.now()
      for (const [socket, watched] of sockets) {
        if (watched.running > 0) continue
        if (socket.bytesRead !== watched.bytesRead) {
          watched.bytesRead = socket.bytesRead
          watched.quietSinceMs = nowMs
          watched.isArriving = true
        }
        const limitMs = watched.isArriving ? Math.max(forMs, HEAD_MS_MAX) : forMs
        if (nowMs - watched.quietSinceMs >= limitMs) socket.destroy()
      }
    },
  }
}

/**
 * Keeps the connections of the workers even. The operating system gives a new connection to any worker that is free to
 * accept it, so a worker may have got too many, and a new one has none. A worker above its share closes the connections
 * in excess after an answer (`Connection: close`), and their clients connect anew. No request is lost.
 */
interface EvenConnections {
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
