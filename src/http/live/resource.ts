import { liveRoutes } from './live-routes.ts'

export const live = [...liveRoutes]
