/**
 * Sends the next charges of one claimed destination, batch by batch. The place of the destination moves only when its
 * collector has answered, so every charge arrives at least once; a repeated one is the same span.
 */
import { sql } from 'kysely'
import type { Catalog } from '../../money/catalog/catalog.ts'
import type { Database } from '../../platform/db/open.ts'
import type { Lookup } from '../../platform/lib/guarded-fetch.ts'
import { createId } from '../../platform/lib/ids.ts'
import type { Log } from '../../platform/lib/log.ts'
import { SealError } from '../../platform/lib/seal.ts'
import type { ResponseStore } from '../../customers/stored-responses/response-store.ts'
import {
  dueAfter,
  LEASE_SECONDS,
  recordDestination,
  type ClaimedDestination,
} from './claim-destinations.ts'
import type { CompleteTime } from './create-complete-time.ts'
import { openHeaders, type DestinationSettings } from './destination-access.ts'
import { postSpans, type FailedPost, type PostOutcome, type RefusedPost } from './post-spans.ts'
import { countGivenUp, readUnsent, type Place, type SentEvent } from './read-unsent.ts'
import { recordBatch, recordFailure, recordTest, type RecordDeps } from './record-sending.ts'
import { testSpan, toOtlpSpans, type SpanContent } from './to-otlp-spans.ts'
import { NO_EVENT } from './usage-destinations.ts'
import { isObject } from '../../platform/lib/is-object.ts'

/** The largest text that is sent: texts are in memory, and a collector takes a few megabytes. */
const TEXT_BYTES_MAX = 256_000

/**
 * Returns the texts of calls whose customer stores their responses (`/v1/responses`) and asked for them in this
 * destination, by the ids of the charges, which are those of the responses. Nothing else is stored of prompts and
 * answers. What keys of a team wrote is not for the account that pays for them.
 */
async function readContents(
  store: Pick<ResponseStore, 'measure' | 'read'>,
  customerId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, SpanContent>> {
  const reader = { customerId, keyId: null, seesAccount: true }
  const contents = new Map<string, SpanContent>()
  const small: string[] = []
  for (const { id, inputBytes, responseBytes } of await store.measure(reader, ids)) {
    if (inputBytes > TEXT_BYTES_MAX || responseBytes > TEXT_BYTES_MAX)
      contents.set(id, { omitted: 'too_large' })
    else small.push(id)
  }
  if (small.length === 0) return contents
  for (const [id, { input, output }] of await store.read(reader, small, 'all'))
    contents.set(id, written(input ?? '[]', output))
  return contents
}

/** Customers can nest a text so deep that it is read and not written: that must not hold up its charge. */
function written(input: string, output: string): SpanContent {
  try {
    return {
      input: JSON.stringify(toMessages(JSON.parse(input))),
      output: JSON.stringify(toMessages(JSON.parse(output))),
    }
  } catch {
    return { omitted: 'unreadable' }
  }
}

export interface SendUsageDeps extends RecordDeps {
  readonly settings: DestinationSettings
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

/** A message as OpenTelemetry's conventions have it. */
interface Message {
  readonly role: string
  readonly parts: readonly object[]
}

/** Items of the Responses format as messages; what the conventions have no part for keeps its own shape. */
function toMessages(items: unknown): Message[] {
  if (!Array.isArray(items)) return []
  return items.filter(isObject).map((item) => {
    switch (item.type ?? 'message') {
      case 'message':
        return { role: textOr(item.role, 'user'), parts: toParts(item.content) }
      case 'function_call':
      case 'custom_tool_call': {
        const called = item.type === 'function_call' ? item.arguments : item.input
        return {
          role: 'assistant',
          parts: [{ type: 'tool_call', id: item.call_id, name: item.name, arguments: called }],
        }
      }
      case 'function_call_output':
      case 'custom_tool_call_output':
        return {
          role: 'tool',
          parts: [{ type: 'tool_call_response', id: item.call_id, response: item.output }],
        }
      case 'reasoning':
        return { role: 'assistant', parts: toParts(item.summary, 'reasoning') }
      default:
        return { role: 'assistant', parts: [item] }
    }
  })
}

function toParts(content: unknown, type: 'text' | 'reasoning' = 'text'): object[] {
  if (typeof content === 'string') return [{ type, content }]
  if (!Array.isArray(content)) return []
  return content
    .filter(isObject)
    .map((part) => (typeof part.text === 'string' ? { type, content: part.text } : part))
}

function textOr(value: unknown, fallback: string): string {
  return typeof value === 'string' ? value : fallback
}
