import { spendingGuardRoutes } from './spending-guard-routes.ts'

export const spendingGuard = [...spendingGuardRoutes]
