import { operatorMarginRoutes } from './operator-margin-routes.ts'

export const margins = [...operatorMarginRoutes]
