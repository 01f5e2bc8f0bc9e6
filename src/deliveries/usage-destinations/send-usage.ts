/**
 * Sends the usage of customers to their own collectors: the next charges of each claimed destination, batch by batch. The
 * place of a destination moves only when its collector has answered, so every charge arrives at least once; a repeated one
 * is the same span.
 */
import { sql } from 'kysely'
import type { Catalog } from '../../money/catalog/catalog.ts'
import type { Database } from '../../platform/db/open.ts'
import type { Lookup } from '../../platform/lib/guarded-fetch.ts'
import { createId } from '../../platform/lib/ids.ts'
import type { Log } from '../../platform/lib/log.ts'
import { SealError } from '../../platform/lib/seal.ts'
import type { ResponseStore } from '../../customers/stored-responses/response-store.ts'
import { createRunner, type Runner } from '../create-runner.ts'
import type { ReceiverSettings } from '../receiver.ts'
import {
  claimDestinations,
  dueAfter,
  LEASE_SECONDS,
  recordDestination,
  type ClaimedDestination,
} from './claim-destinations.ts'
import { openHeaders } from './destination-access.ts'
import { postSpans, type FailedPost, type PostOutcome, type RefusedPost } from './post-spans.ts'
import { readContents } from './read-contents.ts'
import {
  countGivenUp,
  readUnsent,
  type CompleteTime,
  type Place,
  type SentEvent,
} from './read-unsent.ts'
import { recordBatch, recordFailure, recordTest, type RecordDeps } from './record-sending.ts'
import { testSpan, toOtlpSpans } from './to-otlp-spans.ts'
import { NO_EVENT } from './usage-destinations.ts'

export interface SendUsageDeps extends RecordDeps {
  readonly settings: ReceiverSettings
  readonly catalog: Pick<Catalog, 'findModel'>
  readonly store: Pick<ResponseStore, 'measure' | 'read'>
  readonly log: Log
  readonly completeTime: CompleteTime
  /** Limit of a whole try; 10 s by default. */
  readonly timeoutMs?: number
  /** A run begins no other batch after this time; 20 s by default. */
  readonly runMs?: number
  readonly lookup?: Lookup
}

/** Destinations at once on this node. */
const SLOTS = { quick: 12, slow: 8 } as const
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
/** The age in days above which charges are given up, and counted. */
export const AGE_DAYS_MAX = 7

/** Calls never wait for it: it reads what the ledger has stored. */
export function createUsageExport(deps: SendUsageDeps): Runner {
  return createRunner<ClaimedDestination>({
    kind: 'usage',
    // A change or a test makes one due that is being sent to: it waits for its slot, and never has two.
    lanes: (['quick', 'slow'] as const).map((pace) => ({
      slots: SLOTS[pace],
      claim: (limit, busy) => claimDestinations(deps.db, pace, limit, busy),
    })),
    log: deps.log,
    work: (destination) => sendUsage(deps, destination),
  })
}

async function sendUsage(deps: SendUsageDeps, claimed: ClaimedDestination): Promise<void> {
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
