/** What does not arrive where it should, for operators. */
import Type from 'typebox'
import {
  listFailingMails,
  listFailingWebhooks,
  type Failing,
  type FailingMail,
  type FailingPage,
  type FailingWebhook,
} from '../../deliveries/list-failing.ts'
import { enableWebhook } from '../../deliveries/webhooks/webhook-endpoints.ts'
import type { Database } from '../../platform/db/open.ts'
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

const query = { limit: wholeNumber(1, LIMIT_MAX, LIMIT_DEFAULT), cursor }

async function readPage<Row extends Failing>(
  db: Database,
  list: (db: Database, page: FailingPage) => Promise<readonly Row[]>,
  { limit = LIMIT_DEFAULT, cursor }: { limit?: number; cursor?: string },
): Promise<{ page: readonly Row[]; next_cursor: string | null }> {
  const found = await list(db, { after: readCursor(cursor), limit: limit + 1 })
  return pageOf(found, limit, ({ exactSince, id }) => ({ at: exactSince, id }))
}

const webhookInTrouble = answer({
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
    query,
    answer: answer({ webhooks: Type.Array(webhookInTrouble), next_cursor: nextCursor }),
    async handle({ query }, deps: Deps) {
      const { page, next_cursor } = await readPage(deps.db, listFailingWebhooks, query)
      return { webhooks: page.map(webhookBody), next_cursor }
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

function webhookBody(found: FailingWebhook): AnswerOf<typeof webhookInTrouble> {
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

const mailInTrouble = answer({
  id: uuid,
  customer_id: uuid,
  template: Type.String(),
  status: Type.Enum(['failed', 'waiting']),
  address: { ...nullable(Type.String()), description: 'Mascarado.' },
  error: nullable(Type.String()),
  tries: nullable(count),
  next_try_at: nullable(dateTime),
  since: dateTime,
})

export const operatorMailRoutes = [
  restRoute({
    method: 'GET',
    path: '/admin/mails/in-trouble',
    tag: 'Administração',
    summary: 'E-mails que falharam, ou que esperam há mais de dez minutos',
    access: 'support',
    query,
    answer: answer({ mails: Type.Array(mailInTrouble), next_cursor: nextCursor }),
    async handle({ query }, deps: Deps) {
      const { page, next_cursor } = await readPage(deps.db, listFailingMails, query)
      return { mails: page.map(mailBody), next_cursor }
    },
  }),
]

function mailBody(found: FailingMail): AnswerOf<typeof mailInTrouble> {
  return {
    id: found.id,
    customer_id: found.customerId,
    template: found.template,
    status: found.status,
    address: found.address,
    error: found.error,
    tries: found.tries,
    next_try_at: found.nextTryAt?.toISOString() ?? null,
    since: found.since.toISOString(),
  }
}
