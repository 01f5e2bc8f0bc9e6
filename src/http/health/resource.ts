import { healthRoutes } from './health-routes.ts'
import { operatorHealthRoutes } from './operator-health-routes.ts'
import { probeRoutes } from './probe-routes.ts'
import { upstreamHealthRoutes } from './upstream-health-routes.ts'

export const health = [
  ...healthRoutes,
  ...probeRoutes,
  ...upstreamHealthRoutes,
  ...operatorHealthRoutes,
]
