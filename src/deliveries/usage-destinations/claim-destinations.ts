import { sql, type RawBuilder } from 'kysely'
import { exactTime } from '../../platform/db/exact-time.ts'
import { claimDue, recordClaimed, type ClaimableRows } from '../../platform/db/due-rows.ts'
import type { Database } from '../../platform/db/open.ts'
import type { DestinationKind } from './destination-access.ts'
import type { Place } from './read-unsent.ts'

export interface ClaimedDestination extends Place {
  readonly id: string
  readonly customerId: string
  readonly kind: DestinationKind
  readonly url: string
  readonly secretSealed: Buffer
  readonly includesContent: boolean
  readonly failures: number
  /** Null also after a long time without a try: earlier failures say nothing about that time. */
  readonly failingSince: Date | null
  /** Of the test that waits, as an exact time. */
  readonly testAskedAt: string | null
  /** Since its last charges were taken, or since it was made. */
  readonly idleSeconds: number
  /** The fencing token of the claim. */
  readonly tries: number
}

/** How long a claim lasts: far longer than a batch may take. Each batch renews it. */
export const LEASE_SECONDS = 120
/** A destination that took longer for its last batch counts as a slow one. */
const SLOW_MS = 2_000

/** A destination that fails is tried far more often while charges wait for it. */
const TRY_HOURS_MAX = 24
/** Of the row `q`. */
const failingSince = sql`case when q.last_failed_at > now() - make_interval(hours => ${TRY_HOURS_MAX}) then q.failing_since end`
/** The beginning of the failures that end with one now. Of the row that is updated, `q`. */
export const stillFailingSince = sql`coalesce(${failingSince}, now())`

const isTestAsked = sql`(q.test_asked_at is not null and q.tested_at is null)`
/** A new one has to show that it is not, and so does one that is tested. */
const isSlow = sql`(q.failures > 0 or q.latency_ms is null or q.latency_ms > ${SLOW_MS} or ${isTestAsked})`

/**
 * Claims destinations that are due. Those that fail or are slow are claimed apart, so that they never take the slots of
 * the others.
 */
export function claimDestinations(
  db: Database,
  which: 'quick' | 'slow',
  limit: number,
  /** The ids of those that are not claimed although they are due. */
  except: readonly string[],
): Promise<ClaimedDestination[]> {
  const rows: ClaimableRows = {
    table: 'usage_destinations',
    key: ['id'],
    join: sql`join customers c on c.id = q.customer_id and c.deleted_at is null`,
    isDue: sql`q.disabled_at is null and q.due_at <= now() and ${which === 'slow' ? isSlow : sql`not ${isSlow}`}
      and q.id <> all(${[...except]}::uuid[])`,
    orderBy: sql`q.due_at, q.id`,
    lease: sql`due_at = now() + make_interval(secs => ${LEASE_SECONDS}), tries = q.tries + 1`,
    columns: sql`q.id, q.customer_id as "customerId", q.kind, q.url, q.secret_sealed as "secretSealed",
      q.includes_content as "includesContent", q.failures, ${failingSince} as "failingSince",
      extract(epoch from now() - coalesce(q.last_success_at, q.created_at))::float8 as "idleSeconds",
      case when ${isTestAsked} then ${exactTime('q.test_asked_at')} end as "testAskedAt", q.tries,
      ${exactTime('q.sent_until')} as "sentUntil", q.sent_id as "sentId"`,
  }
  return claimDue<ClaimedDestination>(db, rows, limit)
}

/** When the destination is due after a run: at once if a test was asked for meanwhile. Of the row that is updated, `q`. */
export function dueAfter(seconds: number): RawBuilder<unknown> {
  return sql`now() + case when ${isTestAsked} then interval '0' else make_interval(secs => ${seconds}) end`
}

/**
 * Stores what became of a claimed destination. Returns false if it was changed, deleted or claimed by another worker
 * meanwhile.
 */
export function recordDestination(
  db: Database,
  claimed: Pick<ClaimedDestination, 'id' | 'tries'>,
  set: RawBuilder<unknown>,
): Promise<boolean> {
  return recordClaimed(db, { table: 'usage_destinations', key: ['id'] }, claimed, {
    set,
    where: sql`q.disabled_at is null`,
  })
}
