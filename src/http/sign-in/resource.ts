import { authRoutes } from './auth-routes.ts'
import { authEventRoutes } from './auth-event-routes.ts'
import { authPageRoutes } from './auth-page-routes.ts'
import { codeRoutes } from './code-routes.ts'
import { loginSessionRoutes } from './login-session-routes.ts'
import { securityRoutes } from './security-routes.ts'

export const signIn = [
  ...loginSessionRoutes,
  ...authPageRoutes,
  ...codeRoutes,
  ...securityRoutes,
  ...authRoutes,
  ...authEventRoutes,
]
