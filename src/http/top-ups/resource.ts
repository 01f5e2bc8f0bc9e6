import type { TopUpTerms } from './top-up-deps.ts'
import { automaticTopUpRoutes } from './automatic-top-up-routes.ts'
import { topUpRoutes } from './top-up-routes.ts'
import { topUpReceiptRoutes } from './top-up-receipt-routes.ts'

export const topUps = (terms: TopUpTerms) => [
  ...topUpRoutes(terms),
  ...automaticTopUpRoutes(terms),
  ...topUpReceiptRoutes,
]
