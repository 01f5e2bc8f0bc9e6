import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Log } from '../../platform/lib/log.ts'
import type { HttpParts } from '../rest/parts.ts'
import { addAccessLog, type WriteLine } from './access-log.ts'
import { addStallLimit } from './add-stall-limit.ts'
import {
  limitConnections,
  type ConnectionLimit,
  type ConnectionLimitOptions,
} from './connection-limit.ts'
import { limitStrangers } from './limit-strangers.ts'
import { serveInTurn } from './serve-in-turn.ts'

/**
 * The access log, and what clients may occupy by being there: connections, and answers that they do not read, and how often
 * strangers may ask. Before
 * other hooks are added to the server.
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
