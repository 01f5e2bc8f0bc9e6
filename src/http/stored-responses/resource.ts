import { storedResponseRoutes } from './stored-response-routes.ts'

export const storedResponses = [...storedResponseRoutes]
