import cluster from 'node:cluster'
import { once } from 'node:events'
import { createServer, Server, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

export interface Address {
  readonly host: string
  readonly port: number
}

/**
 * Sockets that listen on the port. The platform takes one new connection from each in a turn of the event loop (libuv since
 * 1.45): where a thousand streams make a turn last a tenth of a second, new clients of a single one wait for many seconds.
 */
const QUEUES = 16

/**
 * Starts to listen; returns the address, such as `http://127.0.0.1:8080`. Rejects if the port is taken. Workers get their
 * connections from the parent, which is never busy, and a port that the system chooses has one queue, because the system
 * might choose one of another process that shares its port.
 */
export async function listen(instance: FastifyInstance, address: Address): Promise<string> {
  const isShared = address.port !== 0 && address.host !== 'localhost' && !cluster.isWorker
  if (!isShared || !(await canShare(address))) return instance.listen({ ...address })
  const others: Server[] = []
  queues.set(instance, others)
  instance.addHook('preClose', (done) => {
    for (const other of others) other.close()
    done()
  })
  const shared = { ...address, reusePort: true }
  const url = await instance.listen(shared)
  while (others.length < QUEUES - 1) {
    const other = createQueue(instance.server)
    others.push(other)
    await once(other.listen(shared), 'listening')
  }
  return url
}

/** The listening sockets of each instance beside the one that it opened itself. */
const queues = new WeakMap<FastifyInstance, readonly Server[]>()

/** Takes no more connections; those that are there stay. */
export function stopListening(instance: FastifyInstance): void {
  // Of `net` alone: that of `http` also cuts connections whose client may be sending a request.
  Server.prototype.close.call(instance.server)
  for (const other of queues.get(instance) ?? []) other.close()
}

/** Whether nobody has the port, not even one who would share it, and the system lets sockets share one. */
async function canShare(address: Address): Promise<boolean> {
  return (await isFree(address)) && (await isFree({ ...address, reusePort: true }))
}

function isFree(address: Address & { reusePort?: boolean }): Promise<boolean> {
  const probe = createServer()
  return new Promise((resolve) => {
    probe.once('error', () => resolve(false))
    probe.listen(address, () => probe.close(() => resolve(true)))
  })
}

/** Its sockets have the options that the platform gives those of an HTTP server. */
function createQueue(server: FastifyInstance['server']): Server {
  return createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) =>
    server.emit('connection', socket),
  )
}
