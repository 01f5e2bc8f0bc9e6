import { fxPageRoutes } from './fx-page-routes.ts'
import { fxRateRoutes } from './fx-rate-routes.ts'

export const fxRates = [...fxRateRoutes, ...fxPageRoutes]
