import Type from 'typebox'
import { vendorsOf } from '../../money/catalog/model.ts'
import type { Database } from '../../platform/db/open.ts'
import {
  INCIDENT_MESSAGE_MAX,
  INCIDENT_SEVERITIES,
  INCIDENT_TITLE_MAX,
  listIncidents,
  openIncident,
  resolveIncident,
  updateIncident,
  type Incident,
} from '../../platform/health/incidents.ts'
import { isUuid } from '../../platform/lib/ids.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { actorOf } from '../rest/authenticate.ts'
import { operatorLine, answer, dateTime, nullable, uuid, wholeNumber } from '../rest/values.ts'
import { cursor, nextCursor, pageOf, readCursor } from '../rest/cursor.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'

type Deps = Pick<HttpParts, 'db' | 'catalog'>

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 200
const NAMES_MAX = 100

const severity = Type.Enum([...INCIDENT_SEVERITIES])
const title = operatorLine(1, INCIDENT_TITLE_MAX)
/** May have several lines. */
const message = Type.String({
  minLength: 1,
  maxLength: INCIDENT_MESSAGE_MAX,
  pattern: '^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$',
})
const names = Type.Array(Type.String({ maxLength: 200 }), {
  maxItems: NAMES_MAX,
  uniqueItems: true,
})

const incident = answer({
  id: uuid,
  status: Type.Enum(['open', 'resolved']),
  source: Type.Enum(['operator', 'breaker']),
  subject: { ...nullable(Type.String()), description: 'O que um disjuntor vigia.' },
  severity,
  title: Type.String(),
  message: Type.String(),
  models: Type.Array(Type.String()),
  providers: Type.Array(Type.String()),
  opened_at: dateTime,
  updated_at: dateTime,
  resolved_at: nullable(dateTime),
  updates: Type.Array(
    answer({
      status: Type.Enum(['opened', 'updated', 'resolved']),
      severity,
      message: nullable(Type.String()),
      created_at: dateTime,
    }),
  ),
})

const listing = [
  restRoute({
    method: 'GET',
    path: '/admin/incidents',
    tag: 'Administração',
    summary: 'Os incidentes com a sua história, os mais novos primeiro',
    access: 'support',
    query: {
      status: Type.Optional(Type.Enum(['open', 'all'])),
      limit: wholeNumber(1, LIMIT_MAX, LIMIT_DEFAULT),
      cursor,
    },
    answer: answer({ incidents: Type.Array(incident), next_cursor: nextCursor }),
    async handle({ query }, deps: Deps) {
      const { limit = LIMIT_DEFAULT } = query
      const after = readCursor(query.cursor)
      const found = await listIncidents(deps.db, {
        onlyOpen: query.status === 'open',
        after,
        limit: limit + 1,
      })
      const { page, next_cursor } = pageOf(found, limit, ({ exactOpenedAt, id }) => ({
        at: exactOpenedAt,
        id,
      }))
      return { incidents: page.map(incidentBody), next_cursor }
    },
  }),
]

const opening = [
  restRoute({
    method: 'POST',
    path: '/admin/incidents',
    tag: 'Administração',
    summary: 'Abre um incidente, que todos os clientes veem',
    repeats: 'in_transaction',
    access: 'support',
    body: Type.Object(
      {
        title,
        message,
        severity: Type.Optional(Type.Enum([...INCIDENT_SEVERITIES], { default: 'major' })),
        models: Type.Optional({ ...names, description: 'Ids do catálogo.' }),
        providers: Type.Optional({
          ...names,
          description: 'Quem faz os modelos; sem eles, os dos modelos dados.',
        }),
      },
      { additionalProperties: false },
    ),
    status: 201,
    answer: incident,
    async handle({ caller, body }, deps: Deps) {
      const { title, message, severity = 'major', models: modelIds = [] } = body
      const models = deps.catalog.listConfigured()
      checkKnown('models', modelIds, new Set(models.map(({ id }) => id)))
      const vendors = body.providers ?? vendorsOf(models, modelIds)
      checkKnown('providers', vendors, new Set(models.map(({ vendor }) => vendor)))
      const opened = { title, message, severity, vendors, modelIds }
      return getIncident(deps.db, await openIncident(deps.db, actorOf(caller), opened))
    },
  }),
]

const changing = [
  restRoute({
    method: 'PATCH',
    path: '/admin/incidents/:id',
    tag: 'Administração',
    summary: 'Diz como um incidente segue, ou que acabou',
    access: 'support',
    params: { id: Type.String({ maxLength: 200 }) },
    body: Type.Object(
      {
        title: Type.Optional(title),
        message: Type.Optional(message),
        severity: Type.Optional(severity),
        status: Type.Optional(Type.Literal('resolved', { description: 'Encerra.' })),
      },
      { additionalProperties: false, minProperties: 1 },
    ),
    answer: incident,
    refusals: { 404: ['incident_not_found'], 409: ['incident_resolved'] },
    async handle({ caller, params, body: { status, ...change } }, deps: Deps) {
      const id = params.id.toLowerCase()
      // Also keeps out the character NUL, which PostgreSQL refuses with an error.
      if (!isUuid(id)) throw new RestRefusal(404, 'incident_not_found')
      const act = status === 'resolved' ? resolveIncident : updateIncident
      const outcome = await act(deps.db, actorOf(caller), { id, ...change })
      if (outcome === 'incident_not_found') throw new RestRefusal(404, outcome)
      if (outcome === 'already_resolved') throw new RestRefusal(409, 'incident_resolved')
      return getIncident(deps.db, id)
    },
  }),
]

export const operatorIncidentRoutes = [...listing, ...opening, ...changing]

/** Customers read these names, so they must be in the catalog: no typing error and no upstream's id may show. */
function checkKnown(field: string, given: readonly string[], known: ReadonlySet<string>): void {
  const unknown = given.filter((name) => !known.has(name))
  if (unknown.length > 0)
    throw new RestRefusal(400, 'invalid_request', `${field}: não está no catálogo: ${unknown[0]}`)
}

async function getIncident(db: Database, id: string): Promise<AnswerOf<typeof incident>> {
  const [found] = await listIncidents(db, { onlyOpen: false, id })
  if (!found) throw new Error(`there is no incident ${id}`)
  return incidentBody(found)
}

function incidentBody(found: Incident): AnswerOf<typeof incident> {
  return {
    id: found.id,
    status: found.resolvedAt ? 'resolved' : 'open',
    source: found.source,
    subject: found.subject,
    severity: found.severity,
    title: found.title,
    message: found.message,
    models: found.modelIds,
    providers: found.vendors,
    opened_at: found.openedAt.toISOString(),
    updated_at: found.updatedAt.toISOString(),
    resolved_at: found.resolvedAt?.toISOString() ?? null,
    updates: found.updates.map((update) => ({
      status: update.status,
      severity: update.severity,
      message: update.message,
      created_at: update.createdAt.toISOString(),
    })),
  }
}
