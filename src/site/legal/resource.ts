import { legalPageRoutes } from './legal-page-routes.ts'

export const legal = legalPageRoutes
