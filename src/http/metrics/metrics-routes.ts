import type { FastifyInstance } from 'fastify'
import type { HttpDeps } from '../http-deps.ts'
import { isOperator } from '../rest/is-operator.ts'
import { restError } from '../rest/rest-error.ts'

/** Prometheus metrics: for callers on this machine, or with the operator's token. */
export function addMetrics(server: FastifyInstance, deps: HttpDeps): void {
  server.get('/metrics', { schema: { hide: true } }, async (request, reply) => {
    if (!isOperator(request, deps.metricsToken)) return restError(reply, 403, 'forbidden')
    return reply.type(deps.metrics.contentType).send(await deps.metrics.text())
  })
}
