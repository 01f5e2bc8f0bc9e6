import { dashboardStatsRoutes } from './dashboard-stats-routes.ts'
import { rateLimitUseRoutes } from './rate-limit-use-routes.ts'
import { recommendationRoutes } from './recommendation-routes.ts'
import { runwayRoutes } from './runway-routes.ts'
import { usageRoutes } from './usage-routes.ts'
import { usageCallsRoutes } from './usage-calls-routes.ts'
import { usageRefusalsRoutes } from './usage-refusals-routes.ts'
import { usageSpendRoutes } from './usage-spend-routes.ts'
import { usageByDayRoutes } from './usage-by-day-routes.ts'
import { usageByKeyRoutes } from './usage-by-key-routes.ts'
import { usageExportRoutes } from './usage-export-routes.ts'
import { usageSummaryRoutes } from './usage-summary-routes.ts'

export const usage = [
  ...usageRoutes,
  ...usageCallsRoutes,
  ...usageRefusalsRoutes,
  ...usageSpendRoutes,
  ...usageExportRoutes,
  ...usageSummaryRoutes,
  ...usageByKeyRoutes,
  ...usageByDayRoutes,
  ...rateLimitUseRoutes,
  ...dashboardStatsRoutes,
  ...runwayRoutes,
  ...recommendationRoutes,
]
