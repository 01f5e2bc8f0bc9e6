import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Log } from '../../platform/lib/log.ts'
import type { HttpParts } from '../rest/parts.ts'
import { addAccessLog, type WriteLine } from './access-log.ts'
import {
  limitConnections,
  type ConnectionLimit,
  type ConnectionLimitOptions,
} from './connection-limit.ts'
import { serveInTurn } from './serve-in-turn.ts'
import { LARGE_ANSWER_BYTES } from '../rest/count-unread.ts'
import { PROBE_PATHS } from '../../platform/health/probes.ts'
import type { RestLimits } from '../rest/rest-limits.ts'

/** Load balancers ask these often, from one address; a refusal would take the node out of service. */
const PROBES: ReadonlySet<string> = new Set(['/v1/healthz', '/v1/healthz/db', ...PROBE_PATHS])
/** Of a file of the dashboard, of which a page needs many, and of a message whose sender proves itself without a query. */
const CHEAP = 0.1

/**
 * Counts each request that anybody may make for its network, also those of unknown paths and methods. The other routes
 * count their callers once they know them.
 */
function limitStrangers(server: FastifyInstance, limits: Pick<RestLimits, 'countStranger'>): void {
  server.addHook('onRequest', (request, _reply, done) => {
    const cost = costOf(request)
    if (cost > 0) limits.countStranger(request, cost)
    done()
  })
}

function costOf({ is404, routeOptions: { url = '', config } }: FastifyRequest): number {
  if (is404) return 1
  switch (config.access) {
    case 'public':
    case 'session':
      return PROBES.has(url) ? 0 : 1
    case undefined:
    case 'signed':
    case 'machine':
      return CHEAP
    default:
      return 0
  }
}

/** The time within which a client must read a part of an answer that waits for it. */
const STALL_MS = 60_000

/**
 * Disconnects clients that do not read their answers: while one waits, it occupies memory. Downloads, which may have
 * nothing to send for a while, set a limit of their own.
 */
export function addStallLimit(server: FastifyInstance, stallMs = STALL_MS): void {
  server.addHook('onSend', (_request, reply, payload, done) => {
    const isText = typeof payload === 'string' || Buffer.isBuffer(payload)
    if (isText ? payload.length > LARGE_ANSWER_BYTES : isStream(payload)) {
      // The platform counts from the last byte that the client took.
      if (!reply.raw.socket?.timeout) reply.raw.setTimeout(stallMs)
    }
    done()
  })
}

function isStream(payload: unknown): boolean {
  return typeof payload === 'object' && payload !== null && 'pipe' in payload
}

/**
 * Adds the access log, and limits what clients may occupy by being there: connections, and answers that they do not
 * read, and how often strangers may ask. It must be called before other hooks are added to the server.
 */
export function watchClients(
  server: FastifyInstance,
  options: Pick<HttpParts, 'config' | 'log' | 'restLimits'> & {
    readonly connections: ConnectionLimitOptions
    readonly accessLog: WriteLine | undefined
  },
): ConnectionLimit {
  serveInTurn(server.server)
  if (options.accessLog) addAccessLog(server, options.accessLog)
  if (options.config.trustProxy === false) noticeProxy(server, options.log)
  addStallLimit(server)
  const limit = limitConnections(server, options.connections)
  limitStrangers(server, options.restLimits)
  return limit
}

/** Tells the operator once that requests come through a proxy, and all count as one caller. Anybody may send the header. */
function noticeProxy(server: FastifyInstance, log: Log): void {
  const notice = ({ headers }: IncomingMessage): void => {
    if (headers['x-forwarded-for'] === undefined) return
    server.server.off('request', notice)
    log.warn('forwarded_for_not_trusted', { remedy: 'set TRUST_PROXY, if a proxy is in front' })
  }
  server.server.on('request', notice)
}
