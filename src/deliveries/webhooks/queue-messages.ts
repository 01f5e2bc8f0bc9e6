/**
 * Queues messages: those of events, and those that a customer queues by hand, which are a test message or the message of
 * an earlier attempt once more.
 */
import { sql } from 'kysely'
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import { inTransaction, type Database } from '../../platform/db/open.ts'
import type { EventHandler } from '../../platform/events/dispatch-events.ts'
import { isSentTo, type EventType } from '../../platform/events/record-event.ts'
import { createId } from '../../platform/lib/ids.ts'
import { findAttempt, type WebhookAttemptDetails } from './webhook-attempts.ts'
import { lockWebhook } from './webhook-endpoints.ts'

/** A limit for messages that are queued by hand for one endpoint. */
export const QUEUED_MAX = 1_000
const BODY_BYTES_MAX = 20_000 - 1

/**
 * Queues an event for each enabled endpoint of its customer that subscribes to the type. A transaction that
 * disables an endpoint meanwhile waits, and then finds the attempts that were queued for it.
 */
export const queueWebhooks: EventHandler = async (trx, event) => {
  if (!isSentTo(event, 'webhook')) return
  const { rows } = await sql<{ id: string }>`
    select e.id from webhook_endpoints e join customers c on c.id = e.customer_id and c.deleted_at is null
    where e.customer_id = ${event.customerId} and e.deleted_at is null and e.disabled_at is null
      and (e.event_types is null or ${event.type} = any (e.event_types))
    order by e.id for share of e`.execute(trx)
  await queueMessage(
    trx,
    rows.map(({ id }) => id),
    {
      customerId: event.customerId,
      messageId: event.id,
      eventType: event.type,
      body: messageBody(event),
    },
  )
}

export type QueuedByHand =
  | { readonly kind: 'queued'; readonly attempt: WebhookAttemptDetails }
  | { readonly kind: 'webhook_not_found' | 'webhook_disabled' | 'too_many_queued' }

/** Leaves no audit row: it changes nothing and sends nothing of the account. */
export function queueTestMessage(
  db: Database,
  { customerId, webhookId }: { customerId: string; webhookId: string },
): Promise<QueuedByHand> {
  const type = 'webhook.test'
  return inTransaction(db, (trx) =>
    queue(trx, customerId, webhookId, (webhook_id) => ({
      messageId: createId(),
      eventType: type,
      body: messageBody({ type, createdAt: new Date(), data: { webhook_id } }),
    })),
  )
}

/** Queues the same message under a new delivery id. */
export function replayAttempt(
  db: Database,
  actor: Actor,
  { customerId, attemptId }: { customerId: string; attemptId: string },
): Promise<QueuedByHand | { readonly kind: 'webhook_attempt_not_found' }> {
  return audited(db, actor, async (trx, record) => {
    const old = await findAttempt(trx, customerId, attemptId)
    if (!old) return { kind: 'webhook_attempt_not_found' }
    const { messageId, eventType, body, endpointId: subjectId } = old
    const message = { messageId, eventType, body, isReplay: true }
    const queued = await queue(trx, customerId, subjectId, () => message)
    if (queued.kind !== 'queued') return queued
    const details = { replay_of: old.id, delivery_id: queued.attempt.id }
    await record({ action: 'webhook.replayed', customerId, subjectId, details })
    return queued
  })
}

async function queue(
  trx: Database,
  customerId: string,
  webhookId: string,
  messageFor: (webhookId: string) => Omit<MessageToQueue, 'customerId'>,
): Promise<QueuedByHand> {
  const endpoint = await lockWebhook(trx, customerId, webhookId)
  if (!endpoint) return { kind: 'webhook_not_found' }
  if (endpoint.disabledAt) return { kind: 'webhook_disabled' }
  if (await isQueueFull(trx, endpoint.id)) return { kind: 'too_many_queued' }
  const message = { customerId, ...messageFor(endpoint.id) }
  const [attemptId = ''] = await queueMessage(trx, [endpoint.id], message)
  const attempt = await findAttempt(trx, customerId, attemptId)
  if (!attempt) throw new Error(`the attempt ${attemptId} was queued and is not found`)
  return { kind: 'queued', attempt }
}

/** Whether the endpoint has reached the limit of messages queued by hand. */
async function isQueueFull(trx: Database, endpointId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from webhook_attempts where endpoint_id = ${endpointId} and status = 'queued'
    offset ${QUEUED_MAX - 1} limit 1`.execute(trx)
  return rows.length > 0
}

/** Writes the body of a message; every try sends the same bytes. */
function messageBody(message: {
  readonly type: EventType
  readonly createdAt: Date
  readonly data: Readonly<Record<string, unknown>>
}): string {
  const { type, createdAt, data } = message
  const body = JSON.stringify({ type, timestamp: createdAt.toISOString(), data }, withNumbers)
  if (Buffer.byteLength(body) > BODY_BYTES_MAX)
    throw new Error(`a message of ${type} is longer than ${BODY_BYTES_MAX} bytes`)
  return body
}

/** Amounts are stored as text, digit by digit, and are written as the numbers that the API has. */
function withNumbers(name: string, value: unknown): unknown {
  const isAmount = /_(brl|usd)$/.test(name) && typeof value === 'string'
  return isAmount && /^-?\d+(\.\d+)?$/.test(value) ? JSON.rawJSON(value) : value
}

interface MessageToQueue {
  readonly customerId: string
  readonly messageId: string
  readonly eventType: string
  readonly body: string
  readonly isReplay?: boolean
}

/** Queues the first try of a message for each endpoint, due at once. Returns the ids of the attempts. */
export async function queueMessage(
  trx: Database,
  endpointIds: readonly string[],
  message: MessageToQueue,
): Promise<string[]> {
  if (endpointIds.length === 0) return []
  const rows = endpointIds.map((endpointId) => ({
    id: createId(),
    endpoint_id: endpointId,
    customer_id: message.customerId,
    message_id: message.messageId,
    event_type: message.eventType,
    body: message.body,
    is_replay: message.isReplay ?? false,
    first_failed_at: null,
  }))
  await trx.insertInto('webhook_attempts').values(rows).execute()
  return rows.map(({ id }) => id)
}
