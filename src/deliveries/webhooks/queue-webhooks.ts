import { sql } from 'kysely'
import type { EventHandler } from '../../platform/events/dispatch-events.ts'
import { isSentTo } from '../../platform/events/is-sent-to.ts'
import { messageBody, queueMessage } from './webhook-attempts.ts'

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
