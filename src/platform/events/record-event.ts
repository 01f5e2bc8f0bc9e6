/**
 * The outbox: events for customers. An event is written in the transaction of its fact, so neither exists without the
 * other. A background job passes it to mails and webhooks afterwards.
 */
import { sql } from 'kysely'
import type { Database } from '../db/open.ts'
import { createId } from '../lib/ids.ts'

/** The types of events to which webhooks can subscribe. */
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
  'key.paused',
  'key.resumed',
  'refund.requested',
  'refund.completed',
  'refund.rejected',
  'refund.failed',
  'alert.triggered',
  'referral.rewarded',
  'price.changed',
  'model.ending',
  'account.suspended',
  'account.reinstated',
  'webhook.test',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

export interface CustomerEvent {
  readonly id: string
  readonly customerId: string
  readonly type: EventType
  /** In the form that customers receive: amounts are decimal strings in BRL (`amount_brl`), times are ISO 8601. */
  readonly data: Readonly<Record<string, unknown>>
  readonly createdAt: Date
}

/** Writes nothing for a deleted account, because nobody is left to notify. */
export async function recordEvent(
  trx: Database,
  { customerId, type, data }: Pick<CustomerEvent, 'customerId' | 'type' | 'data'>,
): Promise<void> {
  await sql`
    insert into events (id, customer_id, type, data)
    select ${createId()}, id, ${type}, ${JSON.stringify(data)}::jsonb
    from customers where id = ${customerId} and deleted_at is null`.execute(trx)
}

export const CHANNELS = ['email', 'webhook'] as const
export type Channel = (typeof CHANNELS)[number]

/** An event that names its channels is sent to these alone; any other event is sent to all. */
export function isSentTo({ data }: Pick<CustomerEvent, 'data'>, channel: Channel): boolean {
  return !Array.isArray(data.channels) || data.channels.includes(channel)
}
