import { billPageRoutes } from './bill-page-routes.ts'
import { publicBillRoutes } from './public-bill-routes.ts'
import { shownBillRoutes } from './shown-bill-routes.ts'

export const publicBills = [...publicBillRoutes, ...shownBillRoutes, ...billPageRoutes]
