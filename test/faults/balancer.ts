/**
 * The balancer before the nodes, for half of the clients with plenty of money. It asks `/readyz` of each node, keeps idle
 * connections and uses the last one first. A connection that is refused is tried at the next ready node, as nothing of
 * the request was sent; nothing else is tried again, because a request that was sent may have been charged. Where no
 * node is ready, it asks all of them, as the balancers of clouds do.
 */
import { Agent, request, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

export interface BalancedRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly signal: AbortSignal
  /** The node to which it is passed; once more for each refused connection. */
  readonly onNode: (node: number) => void
}

export interface Balancer {
  /** Throws what broke the connection. */
  send(passed: BalancedRequest): Promise<IncomingMessage>
  isReady(node: number): boolean
  close(): Promise<void>
}

interface Server {
  readonly port: number
  readonly agent: Agent
  isReady: boolean
}

/** Common balancers use it. A node closes an idle connection after 72 s, perhaps while a request is on its way. */
const IDLE_MS = 60_000
const ASK_EVERY_MS = 200
const ANSWER_MS_MAX = 4_000
const HOST = '127.0.0.1'

export function startBalancer(ports: readonly number[], idleMs = IDLE_MS): Balancer {
  const servers = ports.map((port): Server => ({
    port,
    agent: new Agent({ keepAlive: true, scheduling: 'lifo', maxFreeSockets: 64, timeout: idleMs }),
    isReady: false,
  }))
  const closing = new AbortController()
  const watching = Promise.all(servers.map((server) => watch(server, closing.signal)))
  let turn = 0

  return {
    async send(passed) {
      const found = servers.filter(({ isReady }) => isReady)
      const ready = found.length > 0 ? found : servers
      turn += 1
      for (let tries = 0; tries < ready.length; tries++) {
        const server = ready[(turn + tries) % ready.length] as Server
        passed.onNode(servers.indexOf(server))
        try {
          return await pass(server, passed)
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') throw error
        }
      }
      throw new Error('every node refuses')
    },
    isReady: (node) => (servers[node] as Server).isReady,
    async close() {
      closing.abort()
      await watching
      for (const { agent } of servers) agent.destroy()
    },
  }
}

async function watch(server: Server, closing: AbortSignal): Promise<void> {
  while (!closing.aborted) {
    server.isReady = await isReady(server, closing)
    await sleep(ASK_EVERY_MS, undefined, { signal: closing }).catch(() => {})
  }
}

async function isReady({ port }: Server, closing: AbortSignal): Promise<boolean> {
  try {
    const answer = await fetch(`http://${HOST}:${port}/readyz`, {
      headers: { connection: 'close' },
      signal: AbortSignal.any([AbortSignal.timeout(ANSWER_MS_MAX), closing]),
    })
    await answer.body?.cancel()
    return answer.status === 200
  } catch {
    return false
  }
}

function pass({ port, agent }: Server, passed: BalancedRequest): Promise<IncomingMessage> {
  const { path, headers, body, signal } = passed
  return new Promise((resolve, reject) => {
    const sent = request({ host: HOST, port, agent, method: 'POST', path, headers, signal })
    sent.once('error', reject)
    sent.once('response', resolve)
    sent.end(body)
  })
}
