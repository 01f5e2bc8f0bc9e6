import { metricsRoutes } from './metrics-routes.ts'

export const metrics = [...metricsRoutes]
