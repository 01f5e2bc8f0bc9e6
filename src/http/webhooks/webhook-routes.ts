import Type from 'typebox'
import { EVENT_TYPES } from '../../platform/events/record-event.ts'
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  findWebhook,
  listWebhooks,
  rotateSigningSecret,
  WEBHOOKS_MAX,
  type OnSecretRotated,
} from '../../deliveries/webhooks/webhook-endpoints.ts'
import { actorOf } from '../rest/authenticate.ts'
import { answer } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import {
  readUrl,
  readWebhookChange,
  webhook,
  webhookBody,
  webhookChange,
  webhookInput,
  webhookWithSecret,
} from './webhook-body.ts'
import { queueMail } from '../../deliveries/email/queue-mail.ts'
import { createId } from '../../platform/lib/ids.ts'

/** Queues one mail for each new secret: a customer who did not ask for it must learn of it. */
const mailRotatedSecret: OnSecretRotated = async (trx, { id, customerId, url }) => {
  await queueMail(trx, {
    customerId,
    template: 'webhook_segredo_rotacionado',
    reference: createId(),
    data: { id, url, at: new Date().toISOString() },
  })
}

type Deps = Pick<HttpParts, 'db' | 'webhooks'>

/** Text that is not a UUID is no webhook's id: the answer is 404, not 400. */
const params = { id: Type.String({ maxLength: 200 }) }
const refusals = { 404: ['webhook_not_found'] }

const reading = [
  restRoute({
    method: 'GET',
    path: '/webhooks',
    tag: 'Webhooks',
    summary: 'Os webhooks, na ordem em que foram criados',
    access: 'account',
    answer: answer({ webhooks: Type.Array(webhook) }),
    async handle({ caller }, deps: Deps) {
      const endpoints = await listWebhooks(deps.db, caller.customerId)
      return { webhooks: endpoints.map(webhookBody) }
    },
  }),
  restRoute({
    method: 'GET',
    path: '/webhooks/event-types',
    tag: 'Webhooks',
    summary: 'Os tipos de evento que um webhook pode receber',
    access: 'account',
    answer: answer({ event_types: Type.Array(Type.String()) }),
    handle: () => ({ event_types: [...EVENT_TYPES] }),
  }),
  restRoute({
    method: 'GET',
    path: '/webhooks/:id',
    tag: 'Webhooks',
    summary: 'Um webhook',
    access: 'account',
    params,
    answer: webhook,
    refusals,
    async handle({ caller, params }, deps: Deps) {
      const endpoint = await findWebhook(deps.db, caller.customerId, params.id)
      if (!endpoint) throw new RestRefusal(404, 'webhook_not_found')
      return webhookBody(endpoint)
    },
  }),
]

const creating = [
  restRoute({
    method: 'POST',
    path: '/webhooks',
    tag: 'Webhooks',
    summary: 'Cria um webhook; o segredo das assinaturas só é mostrado na resposta',
    repeats: 'in_transaction',
    access: 'manage',
    body: webhookInput,
    status: 201,
    answer: webhookWithSecret,
    refusals: { 409: ['too_many_webhooks'] },
    async handle({ caller, body, reply }, deps: Deps) {
      const { customerId } = caller
      const { url, description = null, event_types: eventTypes = null } = body
      const input = { customerId, url: await readUrl(deps.webhooks, url), description, eventTypes }
      const { sealingKey } = deps.webhooks
      const made = await createWebhook(deps.db, actorOf(caller), sealingKey, input)
      if (!('endpoint' in made)) throw new RestRefusal(409, made.kind, `no máximo ${WEBHOOKS_MAX}`)
      reply.header('cache-control', 'no-store')
      return { ...webhookBody(made.endpoint), signing_secret: made.signingSecret }
    },
  }),
]

const changing = [
  restRoute({
    method: 'PATCH',
    path: '/webhooks/:id',
    tag: 'Webhooks',
    summary: 'Altera o que for dado; mensagens na fila vão para o endereço novo',
    access: 'manage',
    params,
    body: webhookChange,
    answer: webhook,
    refusals,
    async handle({ caller, params, body }, deps: Deps) {
      const change = await readWebhookChange(deps.webhooks, body)
      const { customerId } = caller
      const input = { customerId, id: params.id, change, fields: Object.keys(body) }
      const changed = await changeWebhook(deps.db, actorOf(caller), input)
      if (!changed) throw new RestRefusal(404, 'webhook_not_found')
      return webhookBody(changed)
    },
  }),
  restRoute({
    method: 'DELETE',
    path: '/webhooks/:id',
    tag: 'Webhooks',
    summary: 'Exclui um webhook; o que está na fila não é mais enviado',
    access: 'manage',
    params,
    answer: webhook,
    refusals,
    async handle({ caller, params }, deps: Deps) {
      const { customerId } = caller
      const deleted = await deleteWebhook(deps.db, actorOf(caller), { customerId, id: params.id })
      if (!deleted) throw new RestRefusal(404, 'webhook_not_found')
      return webhookBody(deleted)
    },
  }),
]

const rotating = [
  restRoute({
    method: 'POST',
    path: '/webhooks/:id/rotate-secret',
    tag: 'Webhooks',
    summary: 'Troca o segredo das assinaturas; o antigo deixa de valer na hora',
    repeats: 'in_transaction',
    access: 'account',
    params,
    answer: webhookWithSecret,
    refusals,
    async handle({ caller, params, reply }, deps: Deps) {
      const { customerId } = caller
      const { sealingKey } = deps.webhooks
      const webhook = { customerId, id: params.id }
      const rotated = await rotateSigningSecret(
        deps.db,
        actorOf(caller),
        sealingKey,
        webhook,
        mailRotatedSecret,
      )
      if (!rotated) throw new RestRefusal(404, 'webhook_not_found')
      reply.header('cache-control', 'no-store')
      return { ...webhookBody(rotated.endpoint), signing_secret: rotated.signingSecret }
    },
  }),
]

export const webhookRoutes = [...reading, ...creating, ...changing, ...rotating]
