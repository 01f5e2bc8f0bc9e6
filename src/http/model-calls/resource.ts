import { modelCallRoutes } from './model-call-routes.ts'

export const modelCalls = [...modelCallRoutes]
