/** The schemas of webhooks and their attempts. */
import Type, { type Static } from 'typebox'
import { EVENT_TYPES } from '../../platform/events/record-event.ts'
import type { WebhookChange, WebhookEndpoint } from '../../deliveries/webhooks/webhook-endpoints.ts'
import {
  ATTEMPT_STATUSES,
  type WebhookAttempt,
  type WebhookAttemptDetails,
} from '../../deliveries/webhooks/webhook-attempts.ts'
import {
  readReceiverUrl,
  RECEIVER_URL_MAX,
  type ReceiverSettings,
} from '../../deliveries/receiver.ts'
import { answer, count, dateTime, nullable, uuid } from '../rest/values.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'

const DESCRIPTION_MAX = 200

const eventTypes = nullable(
  Type.Array(Type.Enum([...EVENT_TYPES]), {
    minItems: 1,
    maxItems: EVENT_TYPES.length,
    uniqueItems: true,
    description: 'Os tipos de evento; null: todos, também os que vierem.',
  }),
)

const url = Type.String({
  minLength: 1,
  maxLength: RECEIVER_URL_MAX,
  description: 'https, de um endereço público.',
})

export const webhookInput = Type.Object(
  {
    url,
    description: Type.Optional(
      nullable(
        Type.String({ maxLength: DESCRIPTION_MAX, pattern: '^[^\\u0000-\\u001f\\u007f]*$' }),
      ),
    ),
    event_types: Type.Optional(eventTypes),
  },
  { additionalProperties: false },
)

export const webhookChange = Type.Object(
  {
    ...webhookInput.properties,
    url: Type.Optional(url),
    is_enabled: Type.Optional(
      Type.Boolean({ description: 'true liga de novo o que foi desligado.' }),
    ),
  },
  { additionalProperties: false },
)

const WEBHOOK = {
  id: uuid,
  url: Type.String(),
  description: nullable(Type.String()),
  event_types: eventTypes,
  is_enabled: Type.Boolean(),
  disabled_at: nullable(dateTime),
  disabled_reason: {
    ...nullable(Type.Enum(['customer', 'gone', 'failing'])),
    description:
      'customer: por você; gone: o destino respondeu 410; failing: falhou da primeira à última tentativa.',
  },
  failing_since: {
    ...nullable(dateTime),
    description: 'Quando falhou a primeira tentativa depois do último sucesso.',
  },
  created_at: dateTime,
}

export const webhook = answer(WEBHOOK)

export const webhookWithSecret = answer({
  ...WEBHOOK,
  signing_secret: Type.String({ description: 'Só é mostrado aqui, uma única vez.' }),
})

const ATTEMPT = {
  delivery_id: { ...uuid, description: 'Desta tentativa; vai no cabeçalho x-svc-delivery-id.' },
  webhook_id: uuid,
  message_id: {
    ...uuid,
    description: 'O mesmo em todas as tentativas e reenvios; vai no cabeçalho webhook-id.',
  },
  event_type: Type.String(),
  try_number: count,
  is_replay: Type.Boolean(),
  status: Type.Enum([...ATTEMPT_STATUSES]),
  due_at: dateTime,
  http_status: nullable(Type.Integer()),
  latency_ms: nullable(count),
  error: nullable(Type.String()),
  created_at: dateTime,
  finished_at: nullable(dateTime),
}

export const webhookAttempt = answer(ATTEMPT)

export const webhookAttemptDetails = answer({
  ...ATTEMPT,
  body: Type.String({ description: 'Os bytes enviados e assinados.' }),
  response_head: nullable(Type.String({ description: 'O começo da resposta, até 2 kB.' })),
})

export async function readWebhookChange(
  settings: ReceiverSettings,
  body: Static<typeof webhookChange>,
): Promise<WebhookChange> {
  const { url, description, event_types, is_enabled } = body
  return {
    ...(url === undefined ? {} : { url: await readUrl(settings, url) }),
    ...(description === undefined ? {} : { description }),
    ...(event_types === undefined ? {} : { eventTypes: event_types }),
    ...(is_enabled === undefined ? {} : { isEnabled: is_enabled }),
  }
}

/** Returns the form in which the address is stored. Throws a 400 for an address that a webhook must not have. */
export async function readUrl(settings: ReceiverSettings, text: string): Promise<string> {
  const read = readReceiverUrl(text, settings)
  if ('fault' in read) throw new RestRefusal(400, 'invalid_request', `url: ${read.fault}`)
  return read.url
}

export function webhookBody(endpoint: WebhookEndpoint) {
  return {
    id: endpoint.id,
    url: endpoint.url,
    description: endpoint.description,
    event_types: endpoint.eventTypes,
    is_enabled: endpoint.disabledAt === null,
    disabled_at: endpoint.disabledAt?.toISOString() ?? null,
    disabled_reason: endpoint.disabledReason,
    failing_since: endpoint.failingSince?.toISOString() ?? null,
    created_at: endpoint.createdAt.toISOString(),
  }
}

export function attemptBody(attempt: WebhookAttempt) {
  return {
    delivery_id: attempt.id,
    webhook_id: attempt.endpointId,
    message_id: attempt.messageId,
    event_type: attempt.eventType,
    try_number: attempt.tryNumber,
    is_replay: attempt.isReplay,
    status: attempt.status,
    due_at: attempt.dueAt.toISOString(),
    http_status: attempt.httpStatus,
    latency_ms: attempt.latencyMs,
    error: attempt.error,
    created_at: attempt.createdAt.toISOString(),
    finished_at: attempt.finishedAt?.toISOString() ?? null,
  }
}

export function attemptDetailsBody(attempt: WebhookAttemptDetails) {
  return { ...attemptBody(attempt), body: attempt.body, response_head: attempt.responseHead }
}
