import type { FastifyInstance } from 'fastify'
import { addAccessLog, type WriteLine } from './access-log.ts'
import { addStallLimit } from './add-stall-limit.ts'
import {
  limitConnections,
  type ConnectionLimit,
  type ConnectionLimitOptions,
} from './connection-limit.ts'

/**
 * The access log, and what clients may occupy by being there: connections, and answers that they do not read. Before
 * other hooks are added to the server.
 */
export function watchClients(
  server: FastifyInstance,
  options: {
    readonly connections: ConnectionLimitOptions
    readonly accessLog: WriteLine | undefined
  },
): ConnectionLimit {
  if (options.accessLog) addAccessLog(server, options.accessLog)
  addStallLimit(server)
  return limitConnections(server, options.connections)
}
