import { personalDataRoutes } from './personal-data-routes.ts'

export const personalData = [...personalDataRoutes]
