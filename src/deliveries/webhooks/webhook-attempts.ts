/**
 * Attempts to deliver a message: the request, its time and its outcome. Here they are listed, failed when their endpoint
 * is switched off, and deleted in the end.
 */
import { sql } from 'kysely'
import type { Selectable } from 'kysely'
import { exactTime, isBefore } from '../../platform/db/exact-time.ts'
import type { Database } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'
import { isUuid } from '../../platform/lib/ids.ts'

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

const DAYS_KEPT = 30
/** Bodies have up to 20 kB, so a batch takes a moment. */
const BATCH = 1_000

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
  if (after) query = query.where(isBefore(after))
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

/**
 * Deletes attempts that ended long ago, and deleted endpoints without attempts. Returns the number of deleted
 * attempts.
 */
export async function pruneWebhookAttempts(db: Database): Promise<number> {
  await failUndeliverable(db)
  let pruned = 0
  for (;;) {
    const { numAffectedRows = 0n } = await sql`
      delete from webhook_attempts where id in (
        select id from webhook_attempts
        where created_at < now() - make_interval(days => ${DAYS_KEPT}) and status in ('delivered', 'failed')
        order by created_at limit ${BATCH})`.execute(db)
    pruned += Number(numAffectedRows)
    if (numAffectedRows < BATCH) break
  }
  await sql`
    delete from webhook_endpoints e
    where deleted_at < now() - make_interval(days => ${DAYS_KEPT})
      and not exists (select 1 from webhook_attempts a where a.endpoint_id = e.id)`.execute(db)
  return pruned
}

/** Fails attempts that ran when their endpoint was disabled and whose worker was killed then. */
async function failUndeliverable(db: Database): Promise<void> {
  await sql`
    update webhook_attempts a set status = 'failed', error = 'webhook_disabled', finished_at = now()
    from webhook_endpoints e
    where a.status = 'queued' and e.id = a.endpoint_id
      and (e.disabled_at is not null or e.deleted_at is not null)`.execute(db)
}
