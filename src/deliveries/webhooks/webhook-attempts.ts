/**
 * Attempts to deliver a message: the request, its time and its outcome. This file only queues and lists them.
 */
import { sql } from 'kysely'
import type { Selectable } from 'kysely'
import { exactTime } from '../../platform/db/exact-time.ts'
import type { Database } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { EventType } from '../../platform/events/record-event.ts'
import { createId, isUuid } from '../../platform/lib/ids.ts'

export const ATTEMPT_STATUSES = ['queued', 'running', 'delivered', 'failed'] as const
export type AttemptStatus = (typeof ATTEMPT_STATUSES)[number]

export interface WebhookAttempt {
  /** The delivery id. */
  readonly id: string
  readonly endpointId: string
  readonly messageId: string
  readonly eventType: string
  readonly tryNumber: number
  readonly isReplay: boolean
  readonly status: AttemptStatus
  readonly dueAt: Date
  readonly httpStatus: number | null
  readonly latencyMs: number | null
  readonly error: string | null
  readonly createdAt: Date
  readonly createdAtExact: string
  readonly finishedAt: Date | null
}

export interface WebhookAttemptDetails extends WebhookAttempt {
  readonly body: string
  readonly responseHead: string | null
}

/** A limit for messages that are queued by hand for one endpoint. */
export const QUEUED_MAX = 1_000
const BODY_BYTES_MAX = 20_000 - 1

/** Writes the body of a message; every try sends the same bytes. */
export function messageBody(message: {
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

/** Returns attempts, the newest first. Only finds those of the customer's own endpoints. */
export async function listAttempts(
  db: Database,
  endpointId: string,
  page: {
    readonly status: AttemptStatus | undefined
    readonly after: { readonly at: string; readonly id: string } | undefined
    readonly limit: number
  },
): Promise<WebhookAttempt[]> {
  const { status, after, limit } = page
  let query = db
    .selectFrom('webhook_attempts')
    .select([...COLUMNS, exactTime('created_at').as('created_at_exact')])
    .where('endpoint_id', '=', endpointId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
  if (status) query = query.where('status', '=', status)
  if (after)
    query = query.where(
      sql<boolean>`(created_at, id) < (${after.at}::timestamptz, ${after.id}::uuid)`,
    )
  return (await query.execute()).map(toAttempt)
}

/** Returns an attempt with its texts; undefined also when the attempt's endpoint was deleted. */
export async function findAttempt(
  db: Database,
  customerId: string,
  id: string,
): Promise<WebhookAttemptDetails | undefined> {
  if (!isUuid(id)) return undefined
  const row = await db
    .selectFrom('webhook_attempts')
    .select([...COLUMNS, 'body', 'response_head', exactTime('created_at').as('created_at_exact')])
    .where('id', '=', id)
    .where('customer_id', '=', customerId)
    .where(
      sql<boolean>`exists (
        select 1 from webhook_endpoints e where e.id = endpoint_id and e.deleted_at is null)`,
    )
    .executeTakeFirst()
  return row && { ...toAttempt(row), body: row.body, responseHead: row.response_head }
}

export interface MessageToQueue {
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

/** Whether the endpoint has reached the limit of messages queued by hand. */
export async function isQueueFull(trx: Database, endpointId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from webhook_attempts where endpoint_id = ${endpointId} and status = 'queued'
    offset ${QUEUED_MAX - 1} limit 1`.execute(trx)
  return rows.length > 0
}

/** Fails the attempts that wait. Those that run keep their outcome, but get no next try. */
export async function failQueuedAttempts(
  trx: Database,
  endpointId: string,
  error: 'webhook_disabled' | 'webhook_deleted',
): Promise<void> {
  await sql`
    update webhook_attempts set status = 'failed', error = ${error}, finished_at = now()
    where endpoint_id = ${endpointId} and status = 'queued'`.execute(trx)
}

const COLUMNS = [
  'id',
  'endpoint_id',
  'message_id',
  'event_type',
  'try_number',
  'is_replay',
  'status',
  'due_at',
  'http_status',
  'latency_ms',
  'error',
  'created_at',
  'finished_at',
] as const

type AttemptRow = Pick<Selectable<Tables['webhook_attempts']>, (typeof COLUMNS)[number]> & {
  readonly created_at_exact: string
}

function toAttempt(row: AttemptRow): WebhookAttempt {
  return {
    id: row.id,
    endpointId: row.endpoint_id,
    messageId: row.message_id,
    eventType: row.event_type,
    tryNumber: row.try_number,
    isReplay: row.is_replay,
    status: row.status,
    dueAt: row.due_at,
    httpStatus: row.http_status,
    latencyMs: row.latency_ms,
    error: row.error,
    createdAt: row.created_at,
    createdAtExact: row.created_at_exact,
    finishedAt: row.finished_at,
  }
}

/** Amounts are stored as text, digit by digit, and are written as the numbers that the API has. */
function withNumbers(name: string, value: unknown): unknown {
  const isAmount = /_(brl|usd)$/.test(name) && typeof value === 'string'
  return isAmount && /^-?\d+(\.\d+)?$/.test(value) ? JSON.rawJSON(value) : value
}
