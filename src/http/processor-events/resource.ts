import { processorEventRoutes } from './processor-event-routes.ts'

export const processorEvents = [...processorEventRoutes]
