import { timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { sha256 } from '../../lib/ids.ts'
import type { HttpDeps } from '../http-deps.ts'
import { restError } from '../rest-error.ts'

const LOOPBACK = /^(::ffff:)?127\.|^::1$/

/** Prometheus metrics: for callers on this machine, or with the operator's token. */
export function addMetrics(server: FastifyInstance, deps: HttpDeps): void {
  server.get('/metrics', { schema: { hide: true } }, async (request, reply) => {
    if (!isAllowed(request, deps.metricsToken)) return restError(reply, 403, 'forbidden')
    return reply.type(deps.metrics.contentType).send(await deps.metrics.text())
  })
}

function isAllowed(request: FastifyRequest, token: string | undefined): boolean {
  if (token !== undefined) {
    // Hashing first makes the lengths equal, so that the comparison tells nothing by its time.
    return timingSafeEqual(sha256(request.headers.authorization ?? ''), sha256(`Bearer ${token}`))
  }
  // A forwarded request only looks local.
  return (
    LOOPBACK.test(request.socket.remoteAddress ?? '') &&
    request.headers['x-forwarded-for'] === undefined
  )
}
