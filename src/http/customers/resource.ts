import { operatorCustomerRoutes } from './operator-customer-routes.ts'
import { operatorKeyRoutes } from './operator-key-routes.ts'
import { operatorSuspensionRoutes } from './operator-suspension-routes.ts'

export const customers = [
  ...operatorCustomerRoutes,
  ...operatorSuspensionRoutes,
  ...operatorKeyRoutes,
]
