import { operatorRefundRoutes } from './operator-refund-routes.ts'
import { refundRoutes } from './refund-routes.ts'

export const refunds = [...refundRoutes, ...operatorRefundRoutes]
