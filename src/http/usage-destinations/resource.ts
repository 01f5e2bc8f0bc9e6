import { usageDestinationRoutes } from './usage-destination-routes.ts'

export const usageDestinations = usageDestinationRoutes
