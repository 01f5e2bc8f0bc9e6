import { openApiRoutes } from './open-api-routes.ts'
import { docRoutes } from './doc-routes.ts'

export const docs = [...openApiRoutes, ...docRoutes]
