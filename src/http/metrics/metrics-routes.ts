import { hiddenRoute } from '../rest/route.ts'
import type { MetricsDeps } from './metrics-deps.ts'
import { isOperator } from '../rest/is-operator.ts'
import { restError } from '../rest/rest-error.ts'

/** Prometheus metrics, with the operator's token. */
export const metricsRoutes = [
  hiddenRoute({
    method: 'GET',
    url: '/metrics',
    access: 'machine',
    async handle(request, reply, deps: MetricsDeps) {
      if (!isOperator(request, deps.operatorAccess)) return restError(reply, 403, 'forbidden')
      return reply.type(deps.metrics.contentType).send(await deps.metrics.text())
    },
  }),
]
