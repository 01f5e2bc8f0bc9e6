import Type from 'typebox'
import {
  INCIDENT_SEVERITIES,
  listIncidents,
  type Incident,
} from '../../platform/health/incidents.ts'
import { answer, dateTime, uuid } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'

type Deps = Pick<HttpParts, 'db'>

export const activeIncidentRoutes = [
  restRoute({
    method: 'GET',
    path: '/incidents/active',
    tag: 'Estado',
    summary: 'Incidentes abertos',
    access: 'public',
    answer: answer({
      incidents: Type.Array(
        answer({
          id: uuid,
          title: Type.String(),
          message: Type.String(),
          severity: Type.Enum([...INCIDENT_SEVERITIES]),
          models: Type.Array(Type.String()),
          providers: Type.Array(Type.String()),
          status: Type.Literal('open'),
          started_at: dateTime,
          updated_at: dateTime,
        }),
      ),
    }),
    async handle({ reply }, deps: Deps) {
      const incidents = await listIncidents(deps.db, { onlyOpen: true })
      reply.header('cache-control', 'public, max-age=15')
      return { incidents: incidents.map(incidentBody) }
    },
  }),
]

/** Not shown: the subject may name an upstream. */
function incidentBody(incident: Incident) {
  return {
    id: incident.id,
    title: incident.title,
    message: incident.message,
    severity: incident.severity,
    models: incident.modelIds,
    providers: incident.vendors,
    status: 'open' as const,
    started_at: incident.openedAt.toISOString(),
    updated_at: incident.updatedAt.toISOString(),
  }
}
