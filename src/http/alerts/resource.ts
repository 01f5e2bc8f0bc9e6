import { alertRoutes } from './alert-routes.ts'

export const alerts = [...alertRoutes]
