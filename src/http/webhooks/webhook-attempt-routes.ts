import Type from 'typebox'
import { audited } from '../../audit-log/audited.ts'
import type { Database } from '../../db/open.ts'
import { createId } from '../../lib/ids.ts'
import {
  ATTEMPT_STATUSES,
  findAttempt,
  isQueueFull,
  listAttempts,
  messageBody,
  QUEUED_MAX,
  queueMessage,
  type MessageToQueue,
  type WebhookAttemptDetails,
} from '../../webhooks/webhook-attempts.ts'
import { findWebhook, lockWebhook } from '../../webhooks/webhook-endpoints.ts'
import { actorOf, type Caller } from '../rest/authenticate.ts'
import { answer, wholeNumber } from '../rest/values.ts'
import { cursor, nextCursor, pageOf, readCursor } from '../rest/cursor.ts'
import type { WebhookDeps } from './webhook-deps.ts'
import { restRoute } from '../rest/rest-route.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import {
  attemptBody,
  attemptDetailsBody,
  webhookAttempt,
  webhookAttemptDetails,
} from './webhook-body.ts'

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
    access: 'customer',
    params: webhookParams,
    query: {
      status: Type.Optional(Type.Enum([...ATTEMPT_STATUSES])),
      limit: wholeNumber(1, LIMIT_MAX, LIMIT_DEFAULT),
      cursor,
    },
    answer: answer({ attempts: Type.Array(webhookAttempt), next_cursor: nextCursor }),
    refusals: { 404: ['webhook_not_found'] },
    async handle({ caller, params, query }, deps: WebhookDeps) {
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
    access: 'customer',
    params: attemptParams,
    answer: webhookAttemptDetails,
    refusals: { 404: ['webhook_attempt_not_found'] },
    async handle({ caller, params }, deps: WebhookDeps) {
      return attemptDetailsBody(await theAttempt(deps.db, caller, params.attemptId))
    },
  }),
]

const testing = [
  restRoute({
    method: 'POST',
    path: '/webhooks/:id/test',
    tag: 'Webhooks',
    summary: 'Põe na fila uma mensagem webhook.test',
    access: 'customer',
    params: webhookParams,
    answer: webhookAttemptDetails,
    refusals: { 404: ['webhook_not_found'], 409: ['webhook_disabled', 'too_many_queued'] },
    async handle({ caller, params }, deps: WebhookDeps) {
      const type = 'webhook.test'
      const attempt = await deps.db.transaction().execute((trx) =>
        queueByHand(trx, caller, params.id, (webhookId) => ({
          messageId: createId(),
          eventType: type,
          body: messageBody({ type, createdAt: new Date(), data: { webhook_id: webhookId } }),
        })),
      )
      return attemptDetailsBody(attempt)
    },
  }),
]

const replaying = [
  restRoute({
    method: 'POST',
    path: '/webhooks/attempts/:attemptId/replay',
    tag: 'Webhooks',
    summary: 'Põe na fila a mesma mensagem, com um novo delivery_id',
    access: 'customer',
    params: attemptParams,
    answer: webhookAttemptDetails,
    refusals: {
      404: ['webhook_attempt_not_found', 'webhook_not_found'],
      409: ['webhook_disabled', 'too_many_queued'],
    },
    async handle({ caller, params }, deps: WebhookDeps) {
      const { customerId } = caller
      const attempt = await audited(deps.db, actorOf(caller), async (trx, record) => {
        const old = await theAttempt(trx, caller, params.attemptId)
        const { messageId, eventType, body } = old
        const message = { messageId, eventType, body, isReplay: true }
        const made = await queueByHand(trx, caller, old.endpointId, () => message)
        const details = { replay_of: old.id, delivery_id: made.id }
        const subjectId = old.endpointId
        await record({ action: 'webhook.replayed', customerId, subjectId, details })
        return made
      })
      return attemptDetailsBody(attempt)
    },
  }),
]

export const webhookAttemptRoutes = [...reading, ...testing, ...replaying]

async function theAttempt(
  db: Database,
  { customerId }: Caller,
  attemptId: string,
): Promise<WebhookAttemptDetails> {
  const attempt = await findAttempt(db, customerId, attemptId)
  if (!attempt) throw new RestRefusal(404, 'webhook_attempt_not_found')
  return attempt
}

async function queueByHand(
  trx: Database,
  caller: Caller,
  webhookId: string,
  messageFor: (webhookId: string) => Omit<MessageToQueue, 'customerId'>,
): Promise<WebhookAttemptDetails> {
  const { customerId } = caller
  const endpoint = await lockWebhook(trx, customerId, webhookId)
  if (!endpoint) throw new RestRefusal(404, 'webhook_not_found')
  if (endpoint.disabledAt) throw new RestRefusal(409, 'webhook_disabled', 'is_enabled is false')
  if (await isQueueFull(trx, endpoint.id))
    throw new RestRefusal(409, 'too_many_queued', `at most ${QUEUED_MAX} may wait`)
  const message = { customerId, ...messageFor(endpoint.id) }
  const [attemptId = ''] = await queueMessage(trx, [endpoint.id], message)
  return theAttempt(trx, caller, attemptId)
}
