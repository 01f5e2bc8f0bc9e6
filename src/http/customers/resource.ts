import { operatorCustomerRoutes } from './operator-customer-routes.ts'
import { suspensionRoutes } from './suspension-routes.ts'

export const customers = [...operatorCustomerRoutes, ...suspensionRoutes]
