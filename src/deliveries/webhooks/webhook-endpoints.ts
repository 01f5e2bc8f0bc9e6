/**
 * Webhook endpoints of customers: their address, the subscribed event types and the signing secret, which is shown once
 * when it is created and stored sealed. Attempts to deliver are in `webhook-attempts.ts`.
 */
import { sql } from 'kysely'
import type { Selectable } from 'kysely'
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import { lockCustomer } from '../../customers/customers.ts'
import type { Database } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { EventType } from '../../platform/events/record-event.ts'
import { createId, isUuid } from '../../platform/lib/ids.ts'
import { seal } from '../../platform/lib/seal.ts'
import { createSigningSecret, writeSigningSecret } from './sign-webhook.ts'
import { failQueuedAttempts } from './webhook-attempts.ts'

export interface WebhookEndpoint {
  readonly id: string
  readonly customerId: string
  readonly url: string
  readonly description: string | null
  /** Null: all types. */
  readonly eventTypes: readonly EventType[] | null
  readonly createdAt: Date
  readonly disabledAt: Date | null
  readonly disabledReason: 'customer' | 'gone' | 'failing' | null
  readonly failingSince: Date | null
}

export interface WebhookInput {
  readonly url: string
  readonly description: string | null
  readonly eventTypes: readonly EventType[] | null
}

export interface WebhookChange extends Partial<WebhookInput> {
  readonly isEnabled?: boolean
}

/** The most webhook endpoints that one customer may have. */
export const WEBHOOKS_MAX = 20

interface WithSecret {
  readonly endpoint: WebhookEndpoint
  readonly signingSecret: string
}

/** Creates an endpoint. Only this answer contains the secret. */
export function createWebhook(
  db: Database,
  actor: Actor,
  sealingKey: Buffer,
  input: WebhookInput & { readonly customerId: string },
): Promise<WithSecret | { kind: 'too_many_webhooks' }> {
  return audited(db, actor, async (trx, record) => {
    const made = await insertWebhook(trx, sealingKey, input)
    if ('endpoint' in made) await record(webhookAct('created', made.endpoint))
    return made
  })
}

async function insertWebhook(
  trx: Database,
  sealingKey: Buffer,
  input: WebhookInput & { readonly customerId: string },
): Promise<WithSecret | { kind: 'too_many_webhooks' }> {
  const { customerId } = input
  await lockCustomer(trx, customerId)
  if ((await listWebhooks(trx, customerId)).length >= WEBHOOKS_MAX)
    return { kind: 'too_many_webhooks' }
  const id = createId()
  const secret = createSigningSecret()
  const row = await trx
    .insertInto('webhook_endpoints')
    .values({
      id,
      customer_id: customerId,
      url: input.url,
      description: input.description,
      event_types: input.eventTypes && [...input.eventTypes],
      secret_sealed: seal(sealingKey, id, secret),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return { endpoint: toEndpoint(row), signingSecret: writeSigningSecret(secret) }
}

/** Returns the customer's endpoints, the oldest first. */
export async function listWebhooks(db: Database, customerId: string): Promise<WebhookEndpoint[]> {
  const rows = await db
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('customer_id', '=', customerId)
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(toEndpoint)
}

export async function findWebhook(
  db: Database,
  customerId: string,
  id: string,
): Promise<WebhookEndpoint | undefined> {
  if (!isUuid(id)) return undefined
  const row = await ofCustomer(db, customerId, id).executeTakeFirst()
  return row && toEndpoint(row)
}

/**
 * Locks the endpoint: until the end of the transaction it cannot be enabled, disabled or given another secret, and no
 * message can be queued for it.
 */
export async function lockWebhook(
  trx: Database,
  customerId: string,
  id: string,
): Promise<WebhookEndpoint | undefined> {
  if (!isUuid(id)) return undefined
  const row = await ofCustomer(trx, customerId, id).forNoKeyUpdate().executeTakeFirst()
  return row && toEndpoint(row)
}

/**
 * Changes an endpoint. Queued messages go to the new address; disabling the webhook fails them. `fields` are the names
 * of the changed fields, as the caller's interface calls them.
 */
export function changeWebhook(
  db: Database,
  actor: Actor,
  {
    customerId,
    id,
    change,
    fields,
  }: { customerId: string; id: string; change: WebhookChange; fields: readonly string[] },
): Promise<WebhookEndpoint | undefined> {
  return audited(db, actor, async (trx, record) => {
    const found = await lockWebhook(trx, customerId, id)
    if (!found) return undefined
    const changed = await updateWebhook(trx, found, change)
    if (fields.length > 0) await record({ ...webhookAct('changed', found), details: { fields } })
    return changed
  })
}

type EnableOutcome =
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
  return audited(db, actor, async (trx, record): Promise<EnableOutcome> => {
    const owned = trx.selectFrom('webhook_endpoints').select('customer_id').where('id', '=', id)
    const row = isUuid(id) ? await owned.executeTakeFirst() : undefined
    const endpoint = row && (await lockWebhook(trx, row.customer_id, id))
    if (!endpoint) return { kind: 'webhook_not_found' }
    if (endpoint.disabledReason === 'customer') return { kind: 'webhook_disabled_by_customer' }
    if (!endpoint.disabledAt) return { kind: 'was_enabled', endpoint }
    const enabled = await updateWebhook(trx, endpoint, { isEnabled: true })
    await record({ action: 'webhook.enabled', customerId: endpoint.customerId, subjectId: id })
    return { kind: 'enabled', endpoint: enabled }
  })
}

/** Stores the changed fields of an endpoint, which must be locked. */
async function updateWebhook(
  trx: Database,
  found: WebhookEndpoint,
  change: WebhookChange,
): Promise<WebhookEndpoint> {
  const { id } = found
  const { url, description, eventTypes, isEnabled } = change
  if (isEnabled === false && !found.disabledAt) await disableWebhook(trx, id, 'customer')
  const row = await trx
    .updateTable('webhook_endpoints')
    .set({
      id: found.id,
      ...(url === undefined ? {} : { url }),
      ...(description === undefined ? {} : { description }),
      ...(eventTypes === undefined ? {} : { event_types: eventTypes && [...eventTypes] }),
      ...(isEnabled ? { disabled_at: null, disabled_reason: null, failing_since: null } : {}),
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return toEndpoint(row)
}

/** Disables an endpoint, which must be locked, and fails its queued attempts. */
export async function disableWebhook(
  trx: Database,
  id: string,
  reason: NonNullable<WebhookEndpoint['disabledReason']>,
): Promise<void> {
  await trx
    .updateTable('webhook_endpoints')
    .set({ disabled_at: sql<Date>`now()`, disabled_reason: reason })
    .where('id', '=', id)
    .execute()
  await failQueuedAttempts(trx, id, 'webhook_disabled')
}

/** Erases the secret at once; the row stays as long as attempts refer to it. */
export function deleteWebhook(
  db: Database,
  actor: Actor,
  { customerId, id }: { customerId: string; id: string },
): Promise<WebhookEndpoint | undefined> {
  return audited(db, actor, async (trx, record) => {
    const found = await lockWebhook(trx, customerId, id)
    if (!found) return undefined
    await trx
      .updateTable('webhook_endpoints')
      .set({ deleted_at: sql<Date>`now()`, secret_sealed: null })
      .where('id', '=', id)
      .execute()
    await failQueuedAttempts(trx, id, 'webhook_deleted')
    await record(webhookAct('deleted', found))
    return found
  })
}

/** Runs in the transaction of the new secret. */
export type OnSecretRotated = (trx: Database, endpoint: WebhookEndpoint) => Promise<void>

/** The new secret signs every later attempt, including those of messages that are queued already. */
export function rotateSigningSecret(
  db: Database,
  actor: Actor,
  sealingKey: Buffer,
  { customerId, id }: { customerId: string; id: string },
  onRotated?: OnSecretRotated,
): Promise<WithSecret | undefined> {
  return audited(db, actor, async (trx, record) => {
    const endpoint = await lockWebhook(trx, customerId, id)
    if (!endpoint) return undefined
    const secret = createSigningSecret()
    await trx
      .updateTable('webhook_endpoints')
      .set({ secret_sealed: seal(sealingKey, endpoint.id, secret) })
      .where('id', '=', endpoint.id)
      .execute()
    await record(webhookAct('secret_rotated', endpoint))
    await onRotated?.(trx, endpoint)
    return { endpoint, signingSecret: writeSigningSecret(secret) }
  })
}

function webhookAct(
  verb: 'created' | 'changed' | 'deleted' | 'secret_rotated',
  { id, customerId }: WebhookEndpoint,
): { action: `webhook.${string}`; customerId: string; subjectId: string } {
  return { action: `webhook.${verb}`, customerId, subjectId: id }
}

function ofCustomer(db: Database, customerId: string, id: string) {
  return db
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('id', '=', id)
    .where('customer_id', '=', customerId)
    .where('deleted_at', 'is', null)
}

function toEndpoint(row: Selectable<Tables['webhook_endpoints']>): WebhookEndpoint {
  return {
    id: row.id,
    customerId: row.customer_id,
    url: row.url,
    description: row.description,
    eventTypes: row.event_types as EventType[] | null,
    createdAt: row.created_at,
    disabledAt: row.disabled_at,
    disabledReason: row.disabled_reason,
    failingSince: row.failing_since,
  }
}
