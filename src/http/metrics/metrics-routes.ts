import { hiddenRoute } from '../rest/route.ts'
import type { HttpParts } from '../rest/parts.ts'
import { isOperator } from '../rest/is-operator.ts'
import { restError } from '../rest/rest-refusal.ts'

type Deps = Pick<HttpParts, 'operatorAccess'> & {
  readonly metrics: { readonly contentType: string; text(): Promise<string> }
}

/** The route of Prometheus metrics, which takes the operator's token. */
export const metricsRoutes = [
  hiddenRoute({
    method: 'GET',
    url: '/metrics',
    access: 'machine',
    async handle(request, reply, deps: Deps) {
      if (!isOperator(request, deps.operatorAccess)) return restError(reply, 403, 'forbidden')
      return reply.type(deps.metrics.contentType).send(await deps.metrics.text())
    },
  }),
]
