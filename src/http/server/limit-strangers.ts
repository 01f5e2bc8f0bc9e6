import type { FastifyInstance, FastifyRequest } from 'fastify'
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
export function limitStrangers(
  server: FastifyInstance,
  limits: Pick<RestLimits, 'countStranger'>,
): void {
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
