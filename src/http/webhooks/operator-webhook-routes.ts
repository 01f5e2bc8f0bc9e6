import Type from 'typebox'
import { enableWebhook } from '../../deliveries/webhooks/enable-webhook.ts'
import {
  listFailingWebhooks,
  type FailingWebhook,
} from '../../deliveries/webhooks/list-failing-webhooks.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { actorOf } from '../rest/authenticate.ts'
import { answer, count, dateTime, nullable, uuid, wholeNumber } from '../rest/values.ts'
import { cursor, nextCursor, pageOf, readCursor } from '../rest/cursor.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'

type Deps = Pick<HttpParts, 'db'>

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 200

const inTrouble = answer({
  id: uuid,
  customer_id: uuid,
  origin: Type.String({ description: 'Do endereço, que por inteiro pode conter segredos.' }),
  disabled_at: nullable(dateTime),
  disabled_reason: nullable(Type.Enum(['gone', 'failing'])),
  failing_since: nullable(dateTime),
  last_error: nullable(Type.String()),
  last_http_status: nullable(Type.Integer()),
  last_failed_at: nullable(dateTime),
  queued: count,
})

export const operatorWebhookRoutes = [
  restRoute({
    method: 'GET',
    path: '/admin/webhooks/in-trouble',
    tag: 'Administração',
    summary: 'Webhooks que falham, ou que por isso foram desligados',
    access: 'support',
    query: { limit: wholeNumber(1, LIMIT_MAX, LIMIT_DEFAULT), cursor },
    answer: answer({ webhooks: Type.Array(inTrouble), next_cursor: nextCursor }),
    async handle({ query }, deps: Deps) {
      const { limit = LIMIT_DEFAULT } = query
      const after = readCursor(query.cursor)
      const found = await listFailingWebhooks(deps.db, { after, limit: limit + 1 })
      const { page, next_cursor } = pageOf(found, limit, ({ exactSince, id }) => ({
        at: exactSince,
        id,
      }))
      return { webhooks: page.map(inTroubleBody), next_cursor }
    },
  }),
  restRoute({
    method: 'POST',
    path: '/admin/webhooks/:id/enable',
    tag: 'Administração',
    summary: 'Liga de novo um webhook que falhas desligaram',
    access: 'support',
    params: { id: Type.String({ maxLength: 200 }) },
    answer: answer({ id: uuid, customer_id: uuid, is_enabled: Type.Boolean() }),
    refusals: { 404: ['webhook_not_found'], 409: ['webhook_disabled_by_customer'] },
    async handle({ caller, params }, deps: Deps) {
      const outcome = await enableWebhook(deps.db, actorOf(caller), params)
      if (outcome.kind === 'webhook_not_found') throw new RestRefusal(404, outcome.kind)
      if (outcome.kind === 'webhook_disabled_by_customer')
        throw new RestRefusal(409, outcome.kind, 'só o cliente pode ativá-lo')
      const { id, customerId } = outcome.endpoint
      return { id, customer_id: customerId, is_enabled: true }
    },
  }),
]

function inTroubleBody(found: FailingWebhook): AnswerOf<typeof inTrouble> {
  return {
    id: found.id,
    customer_id: found.customerId,
    origin: found.origin,
    disabled_at: found.disabledAt?.toISOString() ?? null,
    disabled_reason: found.disabledReason,
    failing_since: found.failingSince?.toISOString() ?? null,
    last_error: found.lastError,
    last_http_status: found.lastHttpStatus,
    last_failed_at: found.lastFailedAt?.toISOString() ?? null,
    queued: found.queuedCount,
  }
}
