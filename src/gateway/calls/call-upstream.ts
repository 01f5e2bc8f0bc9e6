/**
 * Tries the routes of a model until one answers. The client has received nothing yet, so a failed attempt costs it
 * only time. The outcome of every attempt is stored for the operator.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Route } from '../../money/catalog/model.ts'
import { takeAtPace } from '../../platform/admission/share.ts'
import type { Provider, TranslationReason, UpstreamFailure } from '../providers/contract.ts'
import type { CallKind } from './call-kind.ts'
import type { CallRequest, Called, HeldCall, NotCalled, TriedUpstream } from './call.ts'
import type { Client } from './client.ts'
import type { GatewayParts } from './gateway-parts.ts'
import { customerSubject } from './limits.ts'
import { refusals, type Refusal } from './refusal.ts'
import { noteSent } from './shield/cover-request.ts'
import type { RouteCall } from './routing/create-router.ts'

/**
 * Plain answers that their own request made too slow or too long: the upstream worked, and bills it, and the customer
 * owes nothing. An honest client does fewer before it
 * reads the message: each takes minutes.
 */
export const UNPAID_WORK = { max: 20, withinMs: 3_600_000 }
/**
 * The most output tokens of a small call. At 20 tokens per second they take a minute, which is within every time limit.
 */
export const SMALL_OUTPUT_TOKENS = 1_200
/** Attempts of one call over all routes. */
const TRIES_MAX = 6
const BACKOFF_MS = 200
/** If every upstream asks for a longer pause than this, the call fails instead of waiting. */
const WAIT_SECONDS_MAX = 5

/** Failures after which the same route may be retried. */
const TRANSIENT: ReadonlySet<UpstreamFailure['reason']> = new Set([
  'connect_failed',
  'connection_lost',
  'server_error',
  'rate_limited',
])
/**
 * Failures after which no route and no fallback model is tried: another upstream would refuse the request too, or
 * generate the same long answer for nothing, or the call was aborted.
 */
const FINAL: ReadonlySet<UpstreamFailure['reason']> = new Set([
  'refused_request',
  'answer_too_long',
  'no_room',
  'unpaid_work',
  'aborted',
])
const TIME_OUTS: ReadonlySet<UpstreamFailure['reason']> = new Set([
  'first_byte_timeout',
  'idle_timeout',
])
/** A slow but usual pace of a model, in output tokens per second. Upstreams generate the choices of a call at once. */
const TOKENS_PER_SECOND_SLOW = 20
const RETRY_SECONDS_MAX = 60

export async function callUpstream<
  Body,
  Request extends CallRequest,
  Outcome extends { kind: string },
>(
  deps: GatewayParts,
  kind: CallKind<Body, Request, Outcome>,
  held: HeldCall<Request>,
  client: Client,
  ending: AbortController,
): Promise<Called<Outcome> | NotCalled> {
  const tries: TriedUpstream[] = []
  const { customerId } = held.key
  const excess = findUnpaidWork(deps, kind, held)
  if (excess) return notCalled({ failure: excess }, tries)
  let last: { failure: UpstreamFailure; route: Route } | undefined

  for (let round = 0; ; round++) {
    const order = deps.router.order(held.model, customerId, held.conversationOf)
    if (typeof order === 'string') return notCalled(last ?? { failure: NO_ROUTE[order] }, tries)
    let pauseSeconds: number | undefined
    for (const route of order) {
      const provider = deps.providers.get(route.upstreamId)
      if (!provider || !kind.can(provider) || round > deps.retriesOf(route.upstreamId)) continue
      if (last && client.hasLeft()) return notCalled(last, tries)
      // A breaker may have opened, or the route filled up, since the order was computed.
      if (tries.length >= TRIES_MAX || !deps.router.mayBegin(route, customerId)) continue
      const tried = await tryRoute(deps, kind, held, { route, provider, client, ending }, tries)
      if (tried.kind === 'called') return tried
      last = { failure: tried, route }
      if (isFinal(tried)) return notCalled(last, tries)
      if (!TRANSIENT.has(tried.reason) || round >= deps.retriesOf(route.upstreamId)) continue
      pauseSeconds = Math.min(pauseSeconds ?? Infinity, tried.retryAfterSeconds ?? 0)
    }
    if (pauseSeconds === undefined || pauseSeconds > WAIT_SECONDS_MAX) break
    if (tries.length >= TRIES_MAX) break
    await pause(pauseSeconds * 1_000, round, ending.signal)
    if (ending.signal.aborted) break
  }
  return notCalled(last ?? { failure: NO_ROUTE.failing }, tries)
}

function notCalled(
  { failure, route }: { failure: UpstreamFailure; route?: Route },
  tries: readonly TriedUpstream[],
): NotCalled {
  return { kind: 'not_called', failure, route, tries, calledAtMs: performance.now() }
}

const NO_ROUTE: Record<'busy' | 'failing', UpstreamFailure> = {
  busy: {
    kind: 'failure',
    reason: 'rate_limited',
    retryAfterSeconds: 1,
    detail: 'every route has reached its limit of concurrent calls',
  },
  failing: {
    kind: 'failure',
    reason: 'server_error',
    status: 503,
    // The first pause of a breaker, after which a call tries its route again.
    retryAfterSeconds: 5,
    detail: 'no route can take the call now',
  },
}

async function tryRoute<Body, Request extends CallRequest, Outcome extends { kind: string }>(
  deps: GatewayParts,
  kind: CallKind<Body, Request, Outcome>,
  held: HeldCall<Request>,
  on: {
    route: Route
    provider: Provider
    client: Client
    ending: AbortController
  },
  tries: TriedUpstream[],
): Promise<Called<Outcome> | UpstreamFailure> {
  const { route, provider, client, ending } = on
  const { upstreamId, upstreamModel } = route
  const { customerId } = held.key
  // The next try downloads its files again.
  const kept = deps.bodies.open(customerSubject(customerId))
  const routeCall = deps.router.begin(route, customerId)
  const startedAtMs = performance.now()
  const step = deps.observer.beginTry({
    operation: kind.operation,
    vendor: held.model.vendor,
    upstreamId,
    upstreamModel,
  })
  let outcome: Outcome | UpstreamFailure
  try {
    const { signal } = ending
    const abort = (): void => ending.abort()
    const onTranslated = (reason: TranslationReason): void => {
      deps.observer.translated({ upstreamId, reason })
      deps.log.warn('upstream_format_left', { upstreamId, model: upstreamModel, reason })
    }
    const takeBytes = takeAtPace(kept, deps.pace, customerId)
    const attempt = { held, upstreamModel, client, signal, abort, takeBytes, onTranslated }
    outcome = await kind.call(provider, attempt)
    if (isFailure(outcome)) {
      if (outcome.status !== undefined) step?.set({ status: outcome.status })
      step?.fail(outcome.reason)
    }
    noteSent(deps, held, held.key.id, outcome)
  } catch (error) {
    kept[Symbol.dispose]()
    routeCall.abstain()
    step?.fail('internal_error')
    throw error
  } finally {
    step?.end()
  }
  const calledAtMs = performance.now()
  const ms = Math.round(calledAtMs - startedAtMs)
  if (!isFailure(outcome)) {
    routeCall.answered(ms)
    deps.observer.upstreamAnswered({ vendor: held.model.vendor, upstreamId, firstByteMs: ms })
    tries.push({ upstream: upstreamId, model: upstreamModel, outcome: 'answered', ms })
    return { kind: 'called', outcome, route, provider, routeCall, kept, tries, calledAtMs }
  }
  kept[Symbol.dispose]()
  const failure = isExplainedByRequest(outcome, held, ms) ? { ...outcome, isFinal: true } : outcome
  const { reason, status } = failure
  if (failure.isFinal || reason === 'answer_too_long') deps.unpaidWork.note(customerId)
  if (usedUpTime(deps, failure, held, ms)) routeCall.fail()
  reportFailure(deps, held, route, routeCall, failure)
  tries.push({
    upstream: upstreamId,
    model: upstreamModel,
    outcome: reason,
    ...(status === undefined ? {} : { status }),
    ms,
  })
  return failure
}

/** A large plain answer for a customer who had too many that were too slow or too long. */
function findUnpaidWork<Request extends CallRequest>(
  { unpaidWork }: GatewayParts,
  kind: Pick<CallKind<never, Request, never>, 'mayBeLarge'>,
  held: HeldCall<Request>,
): UpstreamFailure | undefined {
  const { key, request, quote } = held
  const isLarge = quote.outputTokensMax > SMALL_OUTPUT_TOKENS || kind.mayBeLarge?.(held) === true
  if (request.isStream || !isLarge) return undefined
  const retryAfterSeconds = unpaidWork.findWait(key.customerId)
  if (retryAfterSeconds === undefined) return undefined
  const detail = 'too many plain answers were too slow or too long'
  return { kind: 'failure', reason: 'unpaid_work', retryAfterSeconds, detail }
}

/**
 * Whether a time-out says nothing about the upstream: a model at a slow but usual pace would not have generated the
 * output of a plain call in this time, so the upstream probably worked, and bills its work. The limit decides, because
 * the gateway cannot know how much of it the model needs. A stream shows its progress, so its time-outs are faults.
 */
function isExplainedByRequest(
  { reason, isUnsent }: UpstreamFailure,
  { request, quote }: HeldCall,
  ms: number,
): boolean {
  if (request.isStream || isUnsent || !TIME_OUTS.has(reason)) return false
  return quote.outputTokensMax / TOKENS_PER_SECOND_SLOW > ms / 1_000
}

/**
 * Whether a stream had no output until the call ended by its time limit, most of it with this route. Its comments kept it
 * from a time-out, also if nobody works behind the proxy that sends them.
 */
function usedUpTime(
  { config }: GatewayParts,
  { reason, isByClient, isUnsent }: UpstreamFailure,
  { request }: HeldCall,
  ms: number,
): boolean {
  const isByTime = reason === 'aborted' && !isByClient && !isUnsent
  return isByTime && request.isStream && ms > config.callTimeoutMs / 2
}

/** Whether no other route and no fallback model may be tried after a failure. */
export function isFinal({ reason, isFinal: isMarked }: UpstreamFailure): boolean {
  return isMarked === true || FINAL.has(reason)
}

/** Reports a failure, before or after the first byte, to the circuit breaker, the metrics and the log. */
export function reportFailure(
  deps: GatewayParts,
  held: HeldCall,
  { upstreamId }: Route,
  routeCall: RouteCall,
  failure: UpstreamFailure,
): void {
  const { reason, detail, retryAfterSeconds } = failure
  // The others are the fault of the request or of the client, or nothing was sent.
  const isItsFault = !isFinal(failure) && reason !== 'unsupported'
  if (!isItsFault) routeCall.abstain(reason === 'refused_request' || reason === 'unsupported')
  else if (reason === 'rate_limited') routeCall.fail(retryAfterSeconds ?? 1)
  else routeCall.fail()
  deps.observer.upstreamFailed({ vendor: held.model.vendor, upstreamId, reason, isItsFault })
  deps.log.warn('upstream_failed', { holdId: held.holdId, upstreamId, reason, detail })
}

/** Waits for an exponential back-off with jitter, and at least as long as the upstream asked for. */
async function pause(ms: number, round: number, signal: AbortSignal): Promise<void> {
  const backoff = BACKOFF_MS * 2 ** round * (0.5 + Math.random())
  await sleep(Math.max(ms, backoff), undefined, { signal }).catch(() => {})
}

function isFailure(outcome: { kind: string }): outcome is UpstreamFailure {
  return outcome.kind === 'failure'
}

/** Returns the refusal for the client when no route answered. */
export function refusalOf(failure: UpstreamFailure): Refusal {
  switch (failure.reason) {
    case 'refused_request':
    case 'unsupported':
      return refusalOfRequest(failure)
    case 'rate_limited':
      return refusals.modelLimited(pauseOf(failure) ?? 1)
    case 'answer_too_long':
      return refusals.answerTooLong()
    case 'unpaid_work':
      return refusals.tooMuchUnpaidWork(failure.retryAfterSeconds ?? 1, SMALL_OUTPUT_TOKENS)
    case 'no_room':
      return refusals.tooManyBytes()
    default:
      if (failure.isFinal) return refusals.tooSlowWithoutStream()
      return failure.status === 503
        ? refusals.modelUnavailable(pauseOf(failure))
        : refusals.upstreamError()
  }
}

/** Within what a client may be asked to wait. */
function pauseOf({ retryAfterSeconds }: UpstreamFailure): number | undefined {
  return retryAfterSeconds === undefined
    ? undefined
    : Math.min(Math.max(retryAfterSeconds, 1), RETRY_SECONDS_MAX)
}

function refusalOfRequest({ requestFault }: UpstreamFailure): Refusal {
  switch (requestFault) {
    case 'context_too_long':
      return refusals.contextTooLong()
    case 'content_refused':
      return refusals.contentRefused()
    case 'address_refused':
      return refusals.addressRefused()
    default:
      return refusals.invalidRequest(
        'O modelo não aceitou esta requisição. Confira os parâmetros, as mensagens e o tamanho do texto.',
      )
  }
}
