import { operatorReconciliationRoutes } from './operator-reconciliation-routes.ts'

export const reconciliation = [...operatorReconciliationRoutes]
