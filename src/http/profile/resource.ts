import { preferenceRoutes } from './preference-routes.ts'
import { profileRoutes } from './profile-routes.ts'

export const profile = [...profileRoutes, ...preferenceRoutes]
