/**
 * The outbox: a fact that a customer is told of, written in the transaction of the fact, so that neither is
 * there without the other. A worker hands it to mail and webhooks afterwards.
 */
import { sql } from 'kysely'
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
  'topup.automatic_disabled',
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
  'price.changed',
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

/** Nothing for a deleted account: what is still done for it is told to nobody. */
export async function recordEvent(
  trx: Database,
  { customerId, type, data }: Pick<CustomerEvent, 'customerId' | 'type' | 'data'>,
): Promise<void> {
  await sql`
    insert into events (id, customer_id, type, data)
    select ${createId()}, id, ${type}, ${JSON.stringify(data)}::jsonb
    from customers where id = ${customerId} and deleted_at is null`.execute(trx)
}
