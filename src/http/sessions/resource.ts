import { usageSessionRoutes } from './usage-session-routes.ts'

export const sessions = [...usageSessionRoutes]
