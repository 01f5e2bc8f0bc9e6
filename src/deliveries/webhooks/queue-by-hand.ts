/** Messages that a customer queues by hand: a test message, or the message of an earlier attempt once more. */
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import { inTransaction, type Database } from '../../platform/db/open.ts'
import { createId } from '../../platform/lib/ids.ts'
import {
  findAttempt,
  isQueueFull,
  messageBody,
  queueMessage,
  type MessageToQueue,
  type WebhookAttemptDetails,
} from './webhook-attempts.ts'
import { lockWebhook } from './webhook-endpoints.ts'

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
