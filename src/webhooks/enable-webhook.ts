import type { Database } from '../db/open.ts'
import { isUuid } from '../lib/ids.ts'
import { changeWebhook, lockWebhook, type WebhookEndpoint } from './webhook-endpoints.ts'

export type EnableOutcome =
  | { readonly kind: 'enabled' | 'was_enabled'; readonly endpoint: WebhookEndpoint }
  | { readonly kind: 'webhook_not_found' }
  /** The customer disabled it, and the operator must not override that. */
  | { readonly kind: 'webhook_disabled_by_customer' }

/** For the operator: enables the endpoint of any customer. */
export async function enableWebhook(trx: Database, id: string): Promise<EnableOutcome> {
  const row = isUuid(id)
    ? await trx
        .selectFrom('webhook_endpoints')
        .select('customer_id')
        .where('id', '=', id)
        .executeTakeFirst()
    : undefined
  const endpoint = row && (await lockWebhook(trx, row.customer_id, id))
  if (!endpoint) return { kind: 'webhook_not_found' }
  if (endpoint.disabledReason === 'customer') return { kind: 'webhook_disabled_by_customer' }
  if (!endpoint.disabledAt) return { kind: 'was_enabled', endpoint }
  const enabled = await changeWebhook(trx, endpoint.customerId, id, { isEnabled: true })
  return { kind: 'enabled', endpoint: enabled ?? endpoint }
}
