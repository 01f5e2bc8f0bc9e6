import { publicBillRoutes } from './public-bill-routes.ts'
import { shownBillRoutes } from './shown-bill-routes.ts'

export const publicBills = [...publicBillRoutes, ...shownBillRoutes]
