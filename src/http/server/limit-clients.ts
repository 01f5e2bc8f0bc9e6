import type { FastifyInstance } from 'fastify'
import { addStallLimit } from './add-stall-limit.ts'
import {
  limitConnections,
  type ConnectionLimit,
  type ConnectionLimitOptions,
} from './connection-limit.ts'

/** What clients may occupy by being there: connections, and answers that they do not read. */
export function limitClients(
  server: FastifyInstance,
  options: ConnectionLimitOptions,
): ConnectionLimit {
  addStallLimit(server)
  return limitConnections(server, options)
}
