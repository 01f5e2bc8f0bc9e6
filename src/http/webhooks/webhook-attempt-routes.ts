import Type from 'typebox'
import {
  ATTEMPT_STATUSES,
  findAttempt,
  listAttempts,
} from '../../deliveries/webhooks/webhook-attempts.ts'
import { findWebhook } from '../../deliveries/webhooks/webhook-endpoints.ts'
import {
  QUEUED_MAX,
  queueTestMessage,
  replayAttempt,
  type QueuedByHand,
} from '../../deliveries/webhooks/queue-messages.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { actorOf } from '../rest/authenticate.ts'
import { answer, wholeNumber } from '../rest/values.ts'
import { cursor, nextCursor, pageOf, readCursor } from '../rest/cursor.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import {
  attemptBody,
  attemptDetailsBody,
  webhookAttempt,
  webhookAttemptDetails,
} from './webhook-body.ts'

type Deps = Pick<HttpParts, 'db'>

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 200

const webhookParams = { id: Type.String({ maxLength: 200 }) }
const attemptParams = { attemptId: Type.String({ maxLength: 200 }) }

const reading = [
  restRoute({
    method: 'GET',
    path: '/webhooks/:id/attempts',
    tag: 'Webhooks',
    summary: 'As tentativas de entrega dos últimos 30 dias, as mais novas primeiro',
    access: 'account',
    params: webhookParams,
    query: {
      status: Type.Optional(Type.Enum([...ATTEMPT_STATUSES])),
      limit: wholeNumber(1, LIMIT_MAX, LIMIT_DEFAULT),
      cursor,
    },
    answer: answer({ attempts: Type.Array(webhookAttempt), next_cursor: nextCursor }),
    refusals: { 404: ['webhook_not_found'] },
    async handle({ caller, params, query }, deps: Deps) {
      const { status, limit = LIMIT_DEFAULT } = query
      const after = readCursor(query.cursor)
      const endpoint = await findWebhook(deps.db, caller.customerId, params.id)
      if (!endpoint) throw new RestRefusal(404, 'webhook_not_found')
      const found = await listAttempts(deps.db, endpoint.id, { status, after, limit: limit + 1 })
      const { page, next_cursor } = pageOf(found, limit, ({ createdAtExact, id }) => ({
        at: createdAtExact,
        id,
      }))
      return { attempts: page.map(attemptBody), next_cursor }
    },
  }),
  restRoute({
    method: 'GET',
    path: '/webhooks/attempts/:attemptId',
    tag: 'Webhooks',
    summary: 'Uma tentativa, com o que foi enviado e o começo da resposta',
    access: 'account',
    params: attemptParams,
    answer: webhookAttemptDetails,
    refusals: { 404: ['webhook_attempt_not_found'] },
    async handle({ caller, params }, deps: Deps) {
      const attempt = await findAttempt(deps.db, caller.customerId, params.attemptId)
      if (!attempt) throw new RestRefusal(404, 'webhook_attempt_not_found')
      return attemptDetailsBody(attempt)
    },
  }),
]

const testing = [
  restRoute({
    method: 'POST',
    path: '/webhooks/:id/test',
    tag: 'Webhooks',
    summary: 'Põe na fila uma mensagem webhook.test',
    repeats: 'in_transaction',
    access: 'manage',
    params: webhookParams,
    answer: webhookAttemptDetails,
    refusals: { 404: ['webhook_not_found'], 409: ['webhook_disabled', 'too_many_queued'] },
    async handle({ caller, params }, deps: Deps) {
      const { customerId } = caller
      return queuedBody(await queueTestMessage(deps.db, { customerId, webhookId: params.id }))
    },
  }),
]

const replaying = [
  restRoute({
    method: 'POST',
    path: '/webhooks/attempts/:attemptId/replay',
    tag: 'Webhooks',
    summary: 'Põe na fila a mesma mensagem, com um novo delivery_id',
    repeats: 'in_transaction',
    access: 'account',
    params: attemptParams,
    answer: webhookAttemptDetails,
    refusals: {
      404: ['webhook_attempt_not_found', 'webhook_not_found'],
      409: ['webhook_disabled', 'too_many_queued'],
    },
    async handle({ caller, params }, deps: Deps) {
      const { customerId } = caller
      const { attemptId } = params
      return queuedBody(await replayAttempt(deps.db, actorOf(caller), { customerId, attemptId }))
    },
  }),
]

export const webhookAttemptRoutes = [...reading, ...testing, ...replaying]

function queuedBody(
  queued: QueuedByHand | { readonly kind: 'webhook_attempt_not_found' },
): AnswerOf<typeof webhookAttemptDetails> {
  switch (queued.kind) {
    case 'queued':
      return attemptDetailsBody(queued.attempt)
    case 'webhook_disabled':
      throw new RestRefusal(409, queued.kind, 'o webhook está desativado')
    case 'too_many_queued':
      throw new RestRefusal(409, queued.kind, `no máximo ${QUEUED_MAX} podem esperar`)
    default:
      throw new RestRefusal(404, queued.kind)
  }
}
