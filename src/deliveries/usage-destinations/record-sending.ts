/** What is stored of each batch and test: the place of the destination, its counts and its state. */
import { sql, type RawBuilder } from 'kysely'
import { audited, SYSTEM } from '../../platform/audit-log/audited.ts'
import type { Database } from '../../platform/db/open.ts'
import { reportSwitchedOff } from '../email/report-switched-off.ts'
import { pauseAfter, USAGE_RETRIES } from '../retry-schedule.ts'
import {
  dueAfter,
  recordDestination,
  stillFailingSince,
  type ClaimedDestination,
} from './claim-destinations.ts'
import type { DestinationError, FailedPost, PostOutcome } from './post-spans.ts'
import type { Place } from './read-unsent.ts'

export interface RecordDeps {
  readonly db: Database
  readonly random?: () => number
}

/** A destination that failed for so long without a success is switched off. */
export const FAILING_HOURS_MAX = 72

/**
 * Stores the end of a batch. An undefined `outcome` means that nothing had to be sent. Returns false if the destination
 * was changed or claimed by another worker.
 */
export async function recordBatch(
  deps: RecordDeps,
  claimed: ClaimedDestination,
  {
    end,
    count,
    outcome,
    due,
  }: {
    readonly end: Place
    readonly count: number
    readonly outcome: Exclude<PostOutcome, FailedPost> | undefined
    readonly due: RawBuilder<unknown>
  },
): Promise<boolean> {
  const { db } = deps
  const moved = sql`sent_until = ${end.sentUntil}::timestamptz, sent_id = ${end.sentId}::uuid,
    ${due}`
  if (!outcome) return recordDestination(db, claimed, moved)
  const { latencyMs, httpStatus, answer } = outcome
  const state = sql`${moved}, latency_ms = ${latencyMs}, last_http_status = ${httpStatus}, last_answer = ${answer}`
  if (outcome.kind !== 'taken') {
    const refused = sql`${state}, rejected = rejected + ${count}::int8, last_failed_at = now(),
      last_error = ${outcome.error}, failing_since = ${stillFailingSince}`
    return recordOrSwitchOff(deps, claimed, refused)
  }
  const rejected = Math.min(outcome.rejected, count)
  const error = rejected > 0 ? 'spans_refused' : null
  return recordDestination(
    db,
    claimed,
    sql`${state}, sent = sent + ${count - rejected}::int8, rejected = rejected + ${rejected}::int8,
      failures = 0, failing_since = null, last_success_at = now(), last_error = ${error},
      last_failed_at = case when ${rejected > 0} then now() else last_failed_at end`,
  )
}

export async function recordFailure(
  deps: RecordDeps,
  claimed: ClaimedDestination,
  outcome: FailedPost,
): Promise<void> {
  const { error, httpStatus, answer, latencyMs, retryAfter } = outcome
  const failed = { failures: claimed.failures + 1, retryAfter, random: deps.random }
  const pauseMs = pauseAfter(USAGE_RETRIES, failed) as number
  await recordOrSwitchOff(
    deps,
    claimed,
    sql`failures = failures + 1, failing_since = ${stillFailingSince}, last_failed_at = now(),
      last_error = ${error}, last_http_status = ${httpStatus}, last_answer = ${answer}, latency_ms = ${latencyMs},
      due_at = ${dueAfter(pauseMs / 1_000)}`,
  )
}

/** Records that the collector took nothing, and switches the destination off if that has lasted for too long. */
async function recordOrSwitchOff(
  { db }: RecordDeps,
  claimed: ClaimedDestination,
  set: RawBuilder<unknown>,
): Promise<boolean> {
  const { failingSince } = claimed
  const failedForMs = failingSince === null ? 0 : Date.now() - failingSince.getTime()
  if (failedForMs <= FAILING_HOURS_MAX * 3_600_000) return recordDestination(db, claimed, set)
  await audited(db, SYSTEM, async (trx, record) => {
    const disabled = sql`${set}, disabled_at = now(), disabled_reason = 'failing'`
    if (!(await recordDestination(trx, claimed, disabled))) return
    await reportSwitchedOff(trx, record, 'usage_destination', { ...claimed, reason: 'failing' })
  })
  return false
}

/** A test that was asked for meanwhile still waits. */
export function recordTest(
  db: Database,
  claimed: ClaimedDestination,
  { httpStatus, answer, latencyMs }: PostOutcome,
  error: DestinationError | null,
): Promise<boolean> {
  return recordDestination(
    db,
    claimed,
    sql`latency_ms = greatest(latency_ms, ${latencyMs}::int4), test_error = ${error},
      tested_at = case when q.test_asked_at = ${claimed.testAskedAt}::timestamptz then now() end,
      last_http_status = ${httpStatus}, last_answer = ${answer}`,
  )
}
