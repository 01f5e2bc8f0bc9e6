/**
 * The network between one node and a server of the database: it can be cut (both sides notice), or frozen in one
 * direction or both (neither side notices; sent bytes wait, and arrive late). `heal` either delivers the
 * waiting bytes, as a network does, or ends the connections, as a firewall that has forgotten them does.
 */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export type Direction = 'to_database' | 'from_database'

export interface Network {
  /** Connections end, and new ones are refused until `heal`. */
  cut(): void
  freeze(directions: readonly Direction[]): void
  heal(options?: { isReset: boolean }): void
  close(): void
}

export interface TcpProxy extends Network {
  readonly port: number
}

interface Pair {
  readonly client: Socket
  readonly server: Socket
  /** One side is closed, and the other side does not know it yet. */
  clientHasClosed: boolean
  serverHasClosed: boolean
}

/** Of a node to all servers of the database; they fail together. */
export function joinNetworks(networks: readonly Network[]): Network {
  return {
    cut: () => networks.forEach((network) => network.cut()),
    freeze: (directions) => networks.forEach((network) => network.freeze(directions)),
    heal: (options) => networks.forEach((network) => network.heal(options)),
    close: () => networks.forEach((network) => network.close()),
  }
}

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const pairs = new Set<Pair>()
  const frozen = new Set<Direction>()
  let isCut = false

  const listener = createServer({ allowHalfOpen: true }, (client) => {
    if (isCut) {
      client.on('error', () => {})
      client.destroy()
      return
    }
    const server = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true })
    for (const socket of [client, server]) socket.setNoDelay(true)
    const pair: Pair = { client, server, clientHasClosed: false, serverHasClosed: false }
    pairs.add(pair)
    client.on('error', () => {})
    server.on('error', () => {})
    client.on('close', () => {
      pair.clientHasClosed = true
      settle(pair)
    })
    server.on('close', () => {
      pair.serverHasClosed = true
      settle(pair)
    })
    settle(pair)
  })

  /** Puts a pair of sockets into the network's current state. */
  function settle(pair: Pair): void {
    const { client, server } = pair
    flow(client, server, frozen.has('to_database'))
    flow(server, client, frozen.has('from_database'))
    if (pair.clientHasClosed && !frozen.has('to_database')) server.end()
    if (pair.serverHasClosed && !frozen.has('from_database')) client.destroy()
    if (pair.clientHasClosed && pair.serverHasClosed) pairs.delete(pair)
  }

  // Not by a reset: Node.js refuses one after an end of its own, and the socket then never closes.
  function reset(): void {
    for (const { client, server } of pairs) {
      client.destroy()
      server.destroy()
    }
    pairs.clear()
  }

  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return {
    port: (listener.address() as AddressInfo).port,
    cut() {
      isCut = true
      reset()
    },
    freeze(directions) {
      for (const direction of directions) frozen.add(direction)
      for (const pair of pairs) settle(pair)
    },
    heal({ isReset } = { isReset: false }) {
      isCut = false
      frozen.clear()
      if (isReset) return reset()
      for (const pair of pairs) settle(pair)
    },
    close() {
      isCut = true
      reset()
      listener.close()
    },
  }
}

const flowing = new WeakSet<Socket>()

function flow(from: Socket, to: Socket, isFrozen: boolean): void {
  if (isFrozen) {
    flowing.delete(from)
    from.unpipe(to)
    from.pause()
  } else if (!flowing.has(from)) {
    flowing.add(from)
    from.pipe(to)
  }
}
