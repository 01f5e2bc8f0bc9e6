import { Server as NetServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Drain } from '../platform/lib/drain.ts'
import { evenConnections } from '../platform/processes/even-connections.ts'
import type { ConnectionWatch } from '../platform/processes/watch-connections.ts'
import type { Parts } from './open-parts.ts'

const POLL_MS = 50

/**
 * Returns the function that ends the server: while balancers learn of it everything is served, then new connections are
 * refused, and running requests may finish. Called again while it runs, it may shorten the time that is left.
 */
export function createDrain(
  server: FastifyInstance,
  connections: ConnectionWatch,
  { calls, place, readiness }: Pick<Parts, 'calls' | 'place' | 'readiness'>,
): (drain: Drain) => Promise<void> {
  if (place.role === 'worker') {
    const even = evenConnections(server.server)
    place.parent.on('state', (mean) => even.report(Number(mean)))
  }
  let acceptsUntilMs = Infinity
  let withinMs = Infinity
  let idleMs = Infinity
  let drained: Promise<void> | undefined

  const leftMs = (): number => acceptsUntilMs + withinMs - performance.now()

  /** No connection is cut while a request may be on it: each is closed after an answer, or once it is quiet. */
  async function untilQuiet(): Promise<void> {
    while (leftMs() > 0) {
      connections.closeQuiet(idleMs)
      if (connections.open === 0 && calls.size === 0) return
      await sleep(Math.min(POLL_MS, Math.max(0, leftMs())))
    }
  }

  async function drainNow(): Promise<void> {
    readiness.startDraining()
    connections.closeAfterAnswers()
    while (performance.now() < acceptsUntilMs)
      await sleep(Math.min(POLL_MS, Math.max(0, acceptsUntilMs - performance.now())))
    // Of `net` alone: that of `http` also cuts connections whose client may be sending a request.
    NetServer.prototype.close.call(server.server)
    await untilQuiet()
    const closed = server.close()
    server.server.closeAllConnections()
    await closed
    // Calls whose clients are gone are read to their end and charged.
    await calls.whenNone(withinMs)
  }

  return (drain) => {
    acceptsUntilMs = Math.min(acceptsUntilMs, performance.now() + drain.delayMs)
    withinMs = Math.min(withinMs, drain.withinMs)
    idleMs = Math.min(idleMs, drain.idleMs)
    drained ??= drainNow()
    return drained
  }
}
