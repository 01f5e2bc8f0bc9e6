import { activeIncidentRoutes } from './active-incident-routes.ts'
import { operatorIncidentRoutes } from './operator-incident-routes.ts'

export const incidents = [...activeIncidentRoutes, ...operatorIncidentRoutes]
