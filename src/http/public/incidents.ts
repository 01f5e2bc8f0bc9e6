import type { FastifyInstance } from 'fastify'
import { listIncidents, type Incident } from '../../health/incidents.ts'
import type { HttpDeps } from '../http-deps.ts'
import { sendJson } from '../rest-error.ts'

export function addIncidents(server: FastifyInstance, deps: HttpDeps): void {
  server.get('/v1/incidents/active', async (_request, reply) => {
    const incidents = await listIncidents(deps.db, { onlyOpen: true })
    reply.header('cache-control', 'public, max-age=15')
    return sendJson(reply, { incidents: incidents.map(incidentBody) })
  })
}

/** The subject stays inside: it may name an upstream. */
function incidentBody(incident: Incident): unknown {
  return {
    id: incident.id,
    title: incident.title,
    message: incident.message,
    severity: incident.severity,
    models: incident.modelIds,
    providers: incident.vendors,
    status: 'open',
    started_at: incident.openedAt.toISOString(),
    updated_at: incident.updatedAt.toISOString(),
  }
}
