import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import type { Database } from '../../platform/db/open.ts'
import { isUuid } from '../../platform/lib/ids.ts'
import { lockWebhook, updateWebhook, type WebhookEndpoint } from './webhook-endpoints.ts'

export type EnableOutcome =
  | { readonly kind: 'enabled' | 'was_enabled'; readonly endpoint: WebhookEndpoint }
  | { readonly kind: 'webhook_not_found' }
  /** The customer disabled it, and the operator must not override that. */
  | { readonly kind: 'webhook_disabled_by_customer' }

/** Enables a webhook of any customer, for an operator. */
export function enableWebhook(
  db: Database,
  actor: Actor,
  { id }: { id: string },
): Promise<EnableOutcome> {
  return audited(db, actor, async (trx, record) => {
    const outcome = await enable(trx, id)
    if (outcome.kind === 'enabled') {
      const { customerId, id: subjectId } = outcome.endpoint
      await record({ action: 'webhook.enabled', customerId, subjectId })
    }
    return outcome
  })
}

async function enable(trx: Database, id: string): Promise<EnableOutcome> {
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
  return { kind: 'enabled', endpoint: await updateWebhook(trx, endpoint, { isEnabled: true }) }
}
