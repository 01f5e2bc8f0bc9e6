import { shieldReportRoutes } from './shield-report-routes.ts'
import { shieldRoutes } from './shield-routes.ts'

export const shield = [...shieldRoutes, ...shieldReportRoutes]
