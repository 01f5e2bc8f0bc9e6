import { openApiRoutes } from './open-api-routes.ts'
import { referencePageRoutes } from './reference-page-routes.ts'

export const docs = [...openApiRoutes, ...referencePageRoutes]
