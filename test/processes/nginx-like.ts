/**
 * A balancer as operators run them: idle connections to each server are kept and used again, the last one first; a
 * server that says it is not ready gets no new request; a refused connection is tried at the next server, and nothing
 * else is tried again, because a request that was sent may have been charged.
 */
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

export interface NginxLike {
  /** The status, and whether the answer was whole; the code of the error if the request was lost. */
  post(path: string, headers: Record<string, string>, body: string): Promise<Passed>
  /** The server gets requests, as far as the balancer knows. */
  isReady(port: number): boolean
  close(): Promise<void>
}

export interface Passed {
  readonly status: number
  readonly text: string
  readonly lost?: string
}

const ASK_EVERY_MS = 50

export function startNginxLike(ports: readonly number[]): NginxLike {
  const servers = ports.map((port) => ({
    port,
    isReady: true,
    agent: new Agent({ keepAlive: true, scheduling: 'lifo', maxFreeSockets: 64 }),
  }))
  let next = 0
  const closing = new AbortController()
  const watching = Promise.all(
    servers.map(async (server) => {
      for (; !closing.signal.aborted; await sleep(ASK_EVERY_MS))
        server.isReady = await fetch(`http://127.0.0.1:${server.port}/readyz`, {
          headers: { connection: 'close' },
        }).then(
          ({ status }) => status === 200,
          () => false,
        )
    }),
  )

  return {
    async post(path, headers, body) {
      const ready = servers.filter(({ isReady }) => isReady)
      next += 1
      let last: Passed = { status: 0, text: '', lost: 'no server is ready' }
      for (let turn = 0; turn < ready.length; turn += 1) {
        const { port, agent } = ready[(next + turn) % ready.length] as (typeof servers)[number]
        last = await pass({ port, agent, path, headers, body })
        if (last.lost !== 'ECONNREFUSED') return last
      }
      return last
    },
    isReady: (wanted) => servers.some(({ port, isReady }) => port === wanted && isReady),
    async close() {
      closing.abort()
      await watching
      for (const { agent } of servers) agent.destroy()
    },
  }
}

function pass({
  body,
  ...options
}: {
  port: number
  agent: Agent
  path: string
  headers: Record<string, string>
  body: string
}): Promise<Passed> {
  return new Promise((resolve) => {
    const sent = request({ host: '127.0.0.1', method: 'POST', ...options }, (answer) => {
      let text = ''
      const status = answer.statusCode ?? 0
      answer.on('data', (bytes) => (text += String(bytes)))
      answer.on('end', () => resolve({ status, text }))
      answer.on('error', (error) => resolve({ status, text, lost: error.message }))
    })
    sent.on('error', (error: NodeJS.ErrnoException) =>
      resolve({ status: 0, text: '', lost: error.code ?? error.message }),
    )
    sent.end(body)
  })
}
