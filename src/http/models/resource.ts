import type { ModelTerms } from './model-deps.ts'
import { modelRoutes } from './model-routes.ts'
import { modelPriceRoutes } from './model-price-routes.ts'
import { operatorMarkupRoutes } from './operator-markup-routes.ts'
import { operatorModelRoutes } from './operator-model-routes.ts'
import { operatorPauseRoutes } from './operator-pause-routes.ts'

export const models = (terms: ModelTerms) => [
  ...modelRoutes,
  ...modelPriceRoutes,
  ...operatorModelRoutes(terms),
  ...operatorMarkupRoutes(terms),
  ...operatorPauseRoutes,
]
