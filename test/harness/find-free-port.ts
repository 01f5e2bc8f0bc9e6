import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the range that systems use for outgoing connections, so that none of those takes the port. */
const FIRST = 10_000
const COUNT = 20_000
/** Test files run at the same time, so each process searches a separate range of ports. */
const PER_PROCESS = 50

let next = process.pid * PER_PROCESS
/** Two processes may search the same range. Each takes the UDP port of a port that it gives out, until it ends. */
const reserved = new Set<Socket>()

/**
 * A port of 127.0.0.1 on which nothing listens, for a server that must be given its port, or keeps it over a restart.
 * No other caller gets it while this process runs: without that, a test waited until the server of another one was up.
 */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < COUNT; tries++) {
    const port = FIRST + (next++ % COUNT)
    if ((await reserve(port)) && (await isFree(port))) return port
  }
  throw new Error(`no port from ${FIRST} on is free`)
}

async function reserve(port: number): Promise<boolean> {
  const socket = createSocket('udp4').unref()
  try {
    socket.bind({ port, address: '127.0.0.1', exclusive: true })
    await once(socket, 'listening')
  } catch {
    socket.close()
    return false
  }
  reserved.add(socket)
  return true
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
