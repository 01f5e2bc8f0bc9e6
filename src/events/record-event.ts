/**
 * The outbox: a fact that a customer is told of, written in the transaction of the fact, so that neither is
 * there without the other. A worker hands it to mail and webhooks afterwards.
 */
import type { Database } from '../db/open.ts'
import { createId } from '../lib/ids.ts'

/** What there is to be told of: the types that webhooks can be subscribed to. */
export const EVENT_TYPES = [
  'topup.created',
  'topup.paid',
  'topup.expired',
  'topup.failed',
  'topup.refunded',
  'topup.chargeback',
  'balance.low',
  'balance.depleted',
  'balance.restored',
  'key.created',
  'key.revoked',
  'refund.requested',
  'refund.completed',
  'refund.rejected',
  'refund.failed',
  'alert.triggered',
  'referral.rewarded',
  'webhook.test',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

export interface CustomerEvent {
  readonly id: string
  readonly customerId: string
  readonly type: EventType
  /** As customers see it: amounts are text of decimals in BRL (`amount_brl`), times are ISO 8601. */
  readonly data: Readonly<Record<string, unknown>>
  readonly createdAt: Date
}

export async function recordEvent(
  trx: Database,
  event: Pick<CustomerEvent, 'customerId' | 'type' | 'data'>,
): Promise<void> {
  await trx
    .insertInto('events')
    .values({
      id: createId(),
      customer_id: event.customerId,
      type: event.type,
      data: JSON.stringify(event.data),
    })
    .execute()
}
