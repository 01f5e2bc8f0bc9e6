import { promptRoutes } from './prompt-routes.ts'
import { promptHistoryRoutes } from './prompt-history-routes.ts'
import { promptRunRoutes } from './prompt-run-routes.ts'

export const prompts = [...promptRoutes, ...promptHistoryRoutes, ...promptRunRoutes]
