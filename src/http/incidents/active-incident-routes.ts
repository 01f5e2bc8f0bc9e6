import Type from 'typebox'
import { INCIDENT_SEVERITIES, type Incident } from '../../platform/health/incidents.ts'
import { findServiceNews, RESOLVED_DAYS } from './find-service-news.ts'
import { answer, dateTime, uuid } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'

type Deps = Pick<HttpParts, 'db' | 'catalog'>

const shown = {
  id: uuid,
  title: Type.String(),
  message: Type.String(),
  severity: Type.Enum([...INCIDENT_SEVERITIES]),
  models: Type.Array(Type.String()),
  providers: Type.Array(Type.String()),
  started_at: dateTime,
}

export const activeIncidentRoutes = [
  restRoute({
    method: 'GET',
    path: '/incidents/active',
    tag: 'Estado',
    summary: 'Incidentes abertos, os que acabaram há pouco e o que está fora do ar',
    access: 'public',
    answer: answer({
      incidents: Type.Array(
        answer({ ...shown, status: Type.Literal('open'), updated_at: dateTime }),
      ),
      resolved: Type.Array(
        answer({ ...shown, status: Type.Literal('resolved'), resolved_at: dateTime }),
        {
          description: `Os que acabaram nos últimos ${RESOLVED_DAYS} dias, os mais novos primeiro.`,
        },
      ),
      models_out_of_service: Type.Array(Type.String(), {
        description: 'Ids dos modelos que a operação tirou do ar.',
      }),
      calls_paused: Type.Boolean({
        description: 'A operação pausou todas as chamadas de modelos.',
      }),
    }),
    async handle({ reply }, deps: Deps) {
      const { open, resolved, outOfService, isPaused } = await findServiceNews(deps)
      reply.header('cache-control', 'public, max-age=15')
      return {
        incidents: open.map((incident) => ({
          ...incidentBody(incident),
          status: 'open' as const,
          updated_at: incident.updatedAt.toISOString(),
        })),
        resolved: resolved.map((incident) => ({
          ...incidentBody(incident),
          status: 'resolved' as const,
          resolved_at: incident.resolvedAt.toISOString(),
        })),
        models_out_of_service: outOfService,
        calls_paused: isPaused,
      }
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
    started_at: incident.openedAt.toISOString(),
  }
}
