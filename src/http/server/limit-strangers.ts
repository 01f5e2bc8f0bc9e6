import type { FastifyRequest } from 'fastify'
import { PROBE_PATHS } from '../../health/probes.ts'
import type { RestLimits } from '../rest/rest-limits.ts'
import type { Route, RouteHandlers } from '../rest/route.ts'

/** Load balancers ask these often, from one address; a refusal would take the node out of service. */
const PROBES: ReadonlySet<string> = new Set(['/v1/healthz', '/v1/healthz/db', ...PROBE_PATHS])

/**
 * The handlers of a route that anybody may call, with a count of each request for its network. The other routes count
 * their callers once they know them; those for machines check a token or a signature without reading the database.
 */
export function limitStrangers(
  limits: Pick<RestLimits, 'countStranger'>,
  { url, access }: Pick<Route<never>, 'url' | 'access'>,
  handlers: RouteHandlers,
): RouteHandlers {
  if ((access !== 'public' && access !== 'session') || PROBES.has(url)) return handlers
  const { onRequest = [] } = handlers
  const count = async (request: FastifyRequest): Promise<void> => limits.countStranger(request)
  return {
    ...handlers,
    onRequest: [count, ...(Array.isArray(onRequest) ? onRequest : [onRequest])],
  }
}
