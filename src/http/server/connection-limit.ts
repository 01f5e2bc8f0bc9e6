/**
 * A process has a limit of open files and connections. Above it no upstream and no new database connection can be
 * opened, so nothing is served: the clients' connections end below it. Those above the limit are answered 503 and
 * closed, as long as a few descriptors are left for that; beyond these they are closed unanswered.
 */
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { PROBE_PATHS } from '../../platform/health/probes.ts'
import { watchConnections, type ConnectionWatch } from '../../platform/processes/connections.ts'
import { isModelCall, TooManyConnections } from './answer-error.ts'

export interface ConnectionLimit {
  readonly max: number | undefined
  readonly open: number
  /** Connections above the limit, answered or not. */
  readonly refused: number
  /** The connections of the guarded server. */
  readonly watch: ConnectionWatch
}

export interface ConnectionLimitOptions {
  /** Undefined: no limit. */
  readonly max: number | undefined
  /** Calls also run on for clients that are gone, with a connection to an upstream. */
  readonly runningCalls: () => number
}

/** Connections above the limit that may be open at once, to be answered. */
const ANSWERED_MAX = 32
/** One that sends no request in this time is closed. */
const HEAD_MS_MAX = 5_000
/** Above this share, answers end their connections, so that idle ones do not fill the limit. */
const CROWDED_SHARE = 0.75
/** At the limit, connections that are quiet for so long make room. */
const QUIET_MS = 10_000
const SWEEP_EVERY_MS = 1_000
/** What manages a full server must not take it for a dead one. */
const ALWAYS_ANSWERED: ReadonlySet<string> = new Set([...PROBE_PATHS, '/metrics'])

/** Limits the connections of a server. It must be called before other hooks are added to the server. */
export function limitConnections(
  instance: FastifyInstance,
  { max, runningCalls }: ConnectionLimitOptions,
): ConnectionLimit {
  const { server } = instance
  const watch = watchConnections(server)
  let refused = 0
  if (max !== undefined) {
    const excess = new WeakMap<Socket, NodeJS.Timeout>()
    let sweptAtMs = -Infinity
    server.on('connection', (socket: Socket) => {
      if (watch.open <= max) return
      const nowMs = performance.now()
      if (nowMs - sweptAtMs >= SWEEP_EVERY_MS) {
        sweptAtMs = nowMs
        watch.closeQuiet(QUIET_MS)
      }
      refused += 1
      if (watch.open > max + ANSWERED_MAX) socket.destroy()
      else excess.set(socket, setTimeout(() => socket.destroy(), HEAD_MS_MAX).unref())
    })
    server.prependListener('request', ({ socket }, response) => {
      clearTimeout(excess.get(socket))
      if (watch.open > max * CROWDED_SHARE) response.shouldKeepAlive = false
    })
    const isRefused = (request: FastifyRequest): boolean =>
      (excess.has(request.raw.socket) && !ALWAYS_ANSWERED.has(request.routeOptions.url ?? '')) ||
      (runningCalls() >= max && isModelCall(request))
    instance.addHook('onRequest', (request, reply, done) => {
      if (!isRefused(request)) return done()
      reply.header('connection', 'close')
      done(new TooManyConnections())
    })
  }
  return {
    max,
    watch,
    get open() {
      return watch.open
    },
    get refused() {
      return refused
    },
  }
}
