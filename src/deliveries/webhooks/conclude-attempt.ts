import { sql, type RawBuilder } from 'kysely'
import { audited, SYSTEM, type RecordAct } from '../../platform/audit-log/audited.ts'
import type { Database } from '../../platform/db/open.ts'
import { createId } from '../../platform/lib/ids.ts'
import { reportSwitchedOff } from '../email/report-switched-off.ts'
import { pauseAfter, WEBHOOK_RETRIES } from '../retry-schedule.ts'
import type { LeasedAttempt } from './lease-attempts.ts'
import type { TryOutcome } from './post-attempt.ts'
import { disableWebhook, lockWebhook, type WebhookEndpoint } from './webhook-endpoints.ts'

export interface ConcludeOptions {
  /** The clock of this node, and the same time as an expression for the database. */
  readonly now: Date
  readonly at: RawBuilder<Date>
  readonly random: (() => number) | undefined
}

const GONE = 410

/**
 * Records the outcome of a try, and either schedules the next try or disables the endpoint. Does nothing when the lease
 * is over, because another worker may have tried the attempt again.
 */
export async function concludeAttempt(
  db: Database,
  attempt: LeasedAttempt,
  outcome: TryOutcome,
  options: ConcludeOptions,
): Promise<void> {
  await audited(db, SYSTEM, async (trx, record) => {
    const endpoint = await lockWebhook(trx, attempt.customerId, attempt.endpointId)
    if (!(await recordOutcome(trx, attempt, outcome, options.at))) return
    if (!endpoint || endpoint.disabledAt) return
    if (outcome.isDelivered) return clearFailing(trx, endpoint)
    await goOn(trx, record, { attempt, outcome, endpoint, options })
  })
}

/** False when the lease belongs to another worker by now. */
async function recordOutcome(
  trx: Database,
  { id, leaseId }: LeasedAttempt,
  outcome: TryOutcome,
  at: RawBuilder<Date>,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update webhook_attempts set
      status = ${outcome.isDelivered ? 'delivered' : 'failed'},
      lease_id = null,
      leased_until = null,
      http_status = ${outcome.httpStatus ?? null},
      latency_ms = ${outcome.latencyMs},
      response_head = ${outcome.responseHead ?? null},
      error = ${outcome.error ?? null},
      finished_at = ${at}
    where id = ${id} and lease_id = ${leaseId}`.execute(trx)
  return numAffectedRows === 1n
}

async function clearFailing(trx: Database, { id, failingSince }: WebhookEndpoint): Promise<void> {
  if (!failingSince) return
  await sql`update webhook_endpoints set failing_since = null where id = ${id}`.execute(trx)
}

async function goOn(
  trx: Database,
  record: RecordAct,
  failed: {
    attempt: LeasedAttempt
    outcome: TryOutcome
    endpoint: WebhookEndpoint
    options: ConcludeOptions
  },
): Promise<void> {
  const { attempt, outcome, endpoint, options } = failed
  const disable = async (reason: 'gone' | 'failing'): Promise<void> => {
    await disableWebhook(trx, endpoint.id, reason)
    await reportSwitchedOff(trx, record, 'webhook', { ...endpoint, reason })
  }
  if (outcome.httpStatus === GONE) return disable('gone')
  const pauseMs = pauseAfter(WEBHOOK_RETRIES, {
    failures: attempt.tryNumber,
    retryAfter: outcome.retryAfter,
    at: options.now,
    random: options.random,
  })
  if (pauseMs !== undefined) {
    await queueNextTry(trx, attempt, pauseMs, options.at)
    await sql`
      update webhook_endpoints set failing_since = ${options.at}
      where id = ${endpoint.id} and failing_since is null`.execute(trx)
    return
  }
  // A message that fails to the last try does not disable an endpoint that accepted others since.
  const { failingSince } = endpoint
  const { firstFailedAt } = attempt
  if (failingSince && firstFailedAt && failingSince <= firstFailedAt) await disable('failing')
}

async function queueNextTry(
  trx: Database,
  { id }: LeasedAttempt,
  pauseMs: number,
  at: RawBuilder<Date>,
): Promise<void> {
  await sql`
    insert into webhook_attempts (id, endpoint_id, customer_id, message_id, event_type, body, try_number,
      is_replay, first_failed_at, due_at)
    select ${createId()}::uuid, endpoint_id, customer_id, message_id, event_type, body, try_number + 1,
      is_replay, coalesce(first_failed_at, ${at}), ${at} + make_interval(secs => ${pauseMs / 1000})
    from webhook_attempts where id = ${id}`.execute(trx)
}
