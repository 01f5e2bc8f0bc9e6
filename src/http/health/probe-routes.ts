import { answerProbe, PROBE_PATHS } from '../../platform/health/probes.ts'
import { sendJson } from '../rest/rest-refusal.ts'
import { hiddenRoute } from '../rest/route.ts'
import type { Readiness } from '../../platform/health/readiness.ts'

interface Deps {
  readonly readiness: Readiness
}

/**
 * The routes that answer balancers in front of this port. `PROBE_PORT` answers the same, and also while the server
 * starts.
 */
export const probeRoutes = PROBE_PATHS.map((path) =>
  hiddenRoute({
    method: 'GET',
    url: path,
    access: 'public',
    async handle(_request, reply, { readiness }: Deps) {
      const { status, body } = await answerProbe(path, readiness)
      return sendJson(reply.header('cache-control', 'no-store'), body, status)
    },
  }),
)
