import { operatorAdjustmentRoutes } from './operator-adjustment-routes.ts'

export const adjustments = [...operatorAdjustmentRoutes]
