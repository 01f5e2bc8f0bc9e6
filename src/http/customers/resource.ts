import { operatorCustomerRoutes } from './operator-customer-routes.ts'
import { operatorSuspensionRoutes } from './operator-suspension-routes.ts'

export const customers = [...operatorCustomerRoutes, ...operatorSuspensionRoutes]
