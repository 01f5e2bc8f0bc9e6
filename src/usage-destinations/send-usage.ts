/**
 * Sends the next charges of one claimed destination, batch by batch. The place of the destination moves only when its
 * collector has answered, so every charge arrives at least once; a repeated one is the same span.
 */
import { sql, type RawBuilder } from 'kysely'
import { audited, SYSTEM } from '../audit-log/audited.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Database } from '../db/open.ts'
import type { Lookup } from '../lib/guarded-fetch.ts'
import { createId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import { SealError } from '../lib/seal.ts'
import type { ResponseStore } from '../stored-responses/response-store.ts'
import {
  dueAfter,
  LEASE_SECONDS,
  recordDestination,
  type ClaimedDestination,
} from './claim-destinations.ts'
import type { CompleteTime } from './create-complete-time.ts'
import { openHeaders } from './destination-access.ts'
import type { DestinationError } from './destination-errors.ts'
import type { DestinationSettings } from './destination-settings.ts'
import { pauseAfterFailures } from './pause-after-failures.ts'
import { postSpans, type FailedPost, type PostOutcome, type RefusedPost } from './post-spans.ts'
import { readContents } from './read-contents.ts'
import { countGivenUp, readUnsent, type Place, type SentEvent } from './read-unsent.ts'
import { testSpan, toOtlpSpans } from './to-otlp-spans.ts'
import { NO_EVENT } from './usage-destinations.ts'

/** Called in the transaction that switches a destination off because it failed for days. */
export type OnDestinationDisabled = (
  trx: Database,
  destination: { readonly id: string; readonly customerId: string; readonly url: string },
) => Promise<void>

export interface SendUsageDeps {
  readonly db: Database
  readonly settings: DestinationSettings
  readonly catalog: Pick<Catalog, 'findModel'>
  readonly store: Pick<ResponseStore, 'measure' | 'read'>
  readonly onDisabled: OnDestinationDisabled
  readonly log: Log
  readonly completeTime: CompleteTime
  /** Limit of a whole try; 10 s by default. */
  readonly timeoutMs?: number
  /** A run begins no other batch after this time; 20 s by default. */
  readonly runMs?: number
  readonly random?: () => number
  readonly lookup?: Lookup
}

const BATCH = 200
/** With texts of up to half a megabyte each. */
const BATCH_WITH_CONTENT = 8
/** Then other destinations have their turn. */
const BATCHES_MAX = 10
const RUN_MS_MAX = 20_000
const TIMEOUT_MS = 10_000
const LEASED = sql`due_at = now() + make_interval(secs => ${LEASE_SECONDS})`
/** A destination is looked at again after a tenth of the time in which its customer used nothing, between these. */
const IDLE_SECONDS = { least: 20, most: 300 }
/** Older charges are given up, and counted. */
export const AGE_DAYS_MAX = 7
/** A destination that failed for so long without a success is switched off. */
export const FAILING_HOURS_MAX = 72

export async function sendUsage(deps: SendUsageDeps, claimed: ClaimedDestination): Promise<void> {
  const { settings, log } = deps
  let headers: Readonly<Record<string, string>>
  try {
    headers = openHeaders(settings, claimed.id, claimed.secretSealed)
  } catch (error) {
    if (!(error instanceof SealError)) throw error
    log.error('usage_destination_unreadable', { destinationId: claimed.id, error })
    if (claimed.testAskedAt) await recordTest(deps.db, claimed, UNREADABLE, UNREADABLE.error)
    return recordFailure(deps, claimed, UNREADABLE)
  }
  const post = (body: string): Promise<PostOutcome> =>
    postSpans(claimed, headers, body, {
      ...settings,
      timeoutMs: deps.timeoutMs ?? TIMEOUT_MS,
      lookup: deps.lookup,
    })
  if (claimed.testAskedAt && !(await runTest(deps, claimed, post))) return
  const until = await deps.completeTime()
  const endMs = performance.now() + (deps.runMs ?? RUN_MS_MAX)
  const limit = claimed.includesContent ? BATCH_WITH_CONTENT : BATCH
  let next: Next | undefined = { claimed, limit }
  for (let batches = 1; next; batches++) {
    const isOver = batches >= BATCHES_MAX || performance.now() >= endMs
    next = await sendBatch(deps, next.claimed, { until, limit: next.limit, isOver, post })
  }
}

interface Next {
  /** With the place and the state after the last batch. */
  readonly claimed: ClaimedDestination
  readonly limit: number
}

const UNREADABLE: FailedPost = {
  kind: 'failed',
  error: 'secret_unreadable',
  retryAfter: undefined,
  latencyMs: 0,
  httpStatus: null,
  answer: null,
}

interface Batch {
  readonly until: string
  readonly limit: number
  /** No batch follows in this run. */
  readonly isOver: boolean
  readonly post: (body: string) => Promise<PostOutcome>
}

/** Undefined when the run is over. */
async function sendBatch(
  deps: SendUsageDeps,
  claimed: ClaimedDestination,
  { until, limit, isOver, post }: Batch,
): Promise<Next | undefined> {
  const place = await giveUpOld(deps.db, claimed)
  if (!place) return undefined
  const { events, end, isLast } = await readUnsent(deps.db, claimed.customerId, place, {
    until,
    limit,
  })
  const outcome = events.length > 0 ? await post(await bodyOf(deps, claimed, events)) : undefined
  if (outcome) logOutcome(deps.log, claimed, events.length, outcome)
  if (outcome?.kind === 'failed') {
    await recordFailure(deps, claimed, outcome)
    return undefined
  }
  if (outcome?.kind === 'too_large' && events.length > 1) {
    const smaller = Math.max(1, Math.floor(events.length / 2))
    if (isOver) return giveUpRun(deps, claimed, outcome)
    const isOurs = await recordDestination(deps.db, claimed, LEASED)
    return isOurs ? { claimed: { ...claimed, ...place }, limit: smaller } : undefined
  }
  const isEnd = isOver || isLast
  const isRecorded = await recordBatch(deps, claimed, {
    end,
    count: events.length,
    outcome,
    due: !isEnd ? LEASED : sql`due_at = ${dueAfter(isLast ? pauseOf(claimed, events.length) : 0)}`,
  })
  if (!isRecorded || isEnd) return undefined
  const state = outcome?.kind === 'taken' ? { failures: 0, failingSince: null } : {}
  return { claimed: { ...claimed, ...end, ...state }, limit }
}

/** In seconds: many idle destinations cost the database little, and one in use is late by little. */
function pauseOf({ idleSeconds }: ClaimedDestination, sent: number): number {
  if (sent > 0) return IDLE_SECONDS.least
  return Math.min(Math.max(idleSeconds / 10, IDLE_SECONDS.least), IDLE_SECONDS.most)
}

async function bodyOf(
  { catalog, store }: SendUsageDeps,
  { kind, customerId, includesContent }: ClaimedDestination,
  events: readonly SentEvent[],
): Promise<string> {
  if (!includesContent) return toOtlpSpans(events, { kind, catalog })
  const ids = events.map(({ id }) => id)
  const contents = await readContents(store, customerId, ids)
  return toOtlpSpans(events, { kind, catalog, contents })
}

/** The place behind what is too old; undefined if the destination is not ours any more. */
async function giveUpOld(db: Database, claimed: ClaimedDestination): Promise<Place | undefined> {
  const place: Place = { sentUntil: claimed.sentUntil, sentId: claimed.sentId }
  const oldestMs = Date.now() - AGE_DAYS_MAX * 86_400_000
  if (Date.parse(place.sentUntil) >= oldestMs) return place
  const before = new Date(oldestMs).toISOString()
  const count = await countGivenUp(db, claimed.customerId, place, before)
  const isRecorded = await recordDestination(
    db,
    claimed,
    sql`sent_until = ${before}::timestamptz, sent_id = ${NO_EVENT}::uuid, given_up = given_up + ${count}::int8`,
  )
  return isRecorded ? { sentUntil: exactOf(before), sentId: NO_EVENT } : undefined
}

function exactOf(iso: string): string {
  return `${iso.slice(0, 23)}000Z`
}

async function recordBatch(
  deps: SendUsageDeps,
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
      last_error = ${outcome.error}, failing_since = coalesce(failing_since, now())`
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

async function recordFailure(
  deps: SendUsageDeps,
  claimed: ClaimedDestination,
  outcome: FailedPost,
): Promise<void> {
  const { error, httpStatus, answer, latencyMs, retryAfter } = outcome
  const pauseMs = pauseAfterFailures(claimed.failures + 1, retryAfter, new Date(), deps.random)
  await recordOrSwitchOff(
    deps,
    claimed,
    sql`failures = failures + 1, failing_since = coalesce(failing_since, now()), last_failed_at = now(),
      last_error = ${error}, last_http_status = ${httpStatus}, last_answer = ${answer}, latency_ms = ${latencyMs},
      due_at = ${dueAfter(pauseMs / 1_000)}`,
  )
}

/** Records that the collector took nothing, and switches the destination off if that has lasted for too long. */
async function recordOrSwitchOff(
  { db, onDisabled }: SendUsageDeps,
  claimed: ClaimedDestination,
  set: RawBuilder<unknown>,
): Promise<boolean> {
  const { id, customerId, url, failingSince } = claimed
  const failedForMs = failingSince === null ? 0 : Date.now() - failingSince.getTime()
  if (failedForMs <= FAILING_HOURS_MAX * 3_600_000) return recordDestination(db, claimed, set)
  await audited(db, SYSTEM, async (trx, record) => {
    const disabled = sql`${set}, disabled_at = now(), disabled_reason = 'failing'`
    if (!(await recordDestination(trx, claimed, disabled))) return
    const details = { reason: 'failing' }
    await record({ action: 'usage_destination.disabled', customerId, subjectId: id, details })
    await onDisabled(trx, { id, customerId, url })
  })
  return false
}

/**
 * A run that ends before a batch was small enough is a failure: the next one begins anew, and a collector that is slow to
 * refuse must keep no place of the quick ones.
 */
async function giveUpRun(
  deps: SendUsageDeps,
  claimed: ClaimedDestination,
  { error, latencyMs, httpStatus, answer }: RefusedPost,
): Promise<undefined> {
  const failed = { kind: 'failed', retryAfter: undefined } as const
  await recordFailure(deps, claimed, { ...failed, error, latencyMs, httpStatus, answer })
}

/** False if the destination is not ours any more. A test that fails changes nothing else but the pace. */
async function runTest(
  { db, log }: SendUsageDeps,
  claimed: ClaimedDestination,
  post: (body: string) => Promise<PostOutcome>,
): Promise<boolean> {
  const outcome = await post(testSpan(claimed.kind, createId(), new Date()))
  logOutcome(log, claimed, 0, outcome)
  const error =
    outcome.kind !== 'taken' ? outcome.error : outcome.rejected > 0 ? 'spans_refused' : null
  return recordTest(db, claimed, outcome, error)
}

/** A test that was asked for meanwhile still waits. */
function recordTest(
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

function logOutcome(
  log: Log,
  { id: destinationId }: ClaimedDestination,
  spans: number,
  outcome: PostOutcome,
): void {
  const { kind, httpStatus, latencyMs } = outcome
  const facts = { destinationId, spans, httpStatus, latencyMs }
  if (kind === 'taken') log.debug('usage_sent', facts)
  else log.info('usage_not_sent', { ...facts, reason: outcome.error })
}
