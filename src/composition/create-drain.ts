import { Server as NetServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Drain } from '../lib/drain.ts'
import { evenConnections } from '../processes/even-connections.ts'
import type { Parts } from './open-parts.ts'

const POLL_MS = 50

/**
 * Returns the function that ends the server: new connections are refused at once, running calls may finish. Called again
 * while it runs, it may shorten the time that is left.
 */
export function createDrain(
  server: FastifyInstance,
  { calls, place }: Pick<Parts, 'calls' | 'place'>,
): (drain: Drain) => Promise<void> {
  const connections = place.role === 'worker' ? evenConnections(server.server) : undefined
  if (place.role === 'worker') place.parent.on('state', (mean) => connections?.report(Number(mean)))
  let endAtMs = Infinity
  let idleMs = Infinity
  let withinMs = Infinity
  let drained: Promise<void> | undefined

  const leftMs = (): number => Math.max(0, endAtMs - performance.now())

  /** Where other workers take over: no connection is cut, each is closed after an answer. */
  async function handOver(): Promise<void> {
    if (!connections) return
    // Of `net` alone: that of `http` also cuts connections whose client may be sending a request.
    NetServer.prototype.close.call(server.server)
    connections.closeAll()
    const isUsed = async (): Promise<boolean> =>
      calls.size > 0 ||
      connections.running > 0 ||
      (connections.idleMs() < idleMs && (await countConnections(server)) > 0)
    while (leftMs() > 0 && (await isUsed())) await sleep(Math.min(POLL_MS, leftMs()))
  }

  async function drainNow(): Promise<void> {
    await handOver()
    const closed = server.close()
    await calls.whenNone(leftMs())
    server.server.closeAllConnections()
    await closed
    // Calls whose clients are gone are read to their end and charged.
    await calls.whenNone(withinMs)
  }

  return (drain) => {
    endAtMs = Math.min(endAtMs, performance.now() + drain.withinMs)
    withinMs = Math.min(withinMs, drain.withinMs)
    idleMs = Math.min(idleMs, drain.idleMs)
    drained ??= drainNow()
    return drained
  }
}

function countConnections({ server }: FastifyInstance): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
  })
}
