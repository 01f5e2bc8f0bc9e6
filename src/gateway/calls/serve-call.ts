/**
 * READ THIS FIRST: the path of every model call, whatever its kind.
 *
 *   admit    check the key, its address and the headers
 *   read     parse the body, in the customer's own time
 *   shield   mask the personal data in it, or refuse it, as the key says
 *   name     replace the names of end users by digests
 *   bound    compute the most that the call can use on a model
 *   hold     set aside the most that this can cost, if the balance covers it
 *   call     read what the request names by an address; take a cached answer, if the call may, or try the model's routes
 *            until an upstream answers
 *   relay    pass the answer to the client and read the usage on the way
 *   settle   charge the usage, or release the hold; the last byte leaves after the commit. The hold of work that goes
 *            on at the upstream passes to a job instead (videos)
 *
 * Once money is held, every exit from this file resolves the hold exactly once. If the process dies first,
 * `reconcile.ts` on another node resolves the hold. `call-kind.ts` defines how kinds of calls differ. `deps.observer`
 * watches the steps, and changes none.
 */
import type { Model } from '../../money/catalog/model.ts'
import { chargedPrice, type CallSpan } from '../../money/catalog/route-prices.ts'
import type { Resolution, Resolved } from '../../money/ledger/resolution.ts'
import { takeAtPace, type Held } from '../../platform/admission/share.ts'
import type { UpstreamFailure } from '../providers/contract.ts'
import { admit, findAsked, findModels, refuse } from './admit.ts'
import { openCallCache, type CallCache } from './answer-cache.ts'
import type { CallKind, Deferral, Ending, ReadAddresses } from './call-kind.ts'
import { callUpstream, isFinal, refusalOf, reportFailure } from './call-upstream.ts'
import type {
  Admitted,
  AnsweredBy,
  Asked,
  CallRequest,
  Called,
  HeldCall,
  NotAdmitted,
  NotCalled,
} from './call.ts'
import { chargeHeldCall, estimated, NOT_TIMED, releaseHeldCall } from './charge.ts'
import type { Client, IncomingCall } from './client.ts'
import type { GatewayParts } from './gateway-parts.ts'
import { holdMoney, spanOf } from './hold-money.ts'
import { countRequest, noteRefusal, refuseAndCount, refuseCall } from './refuse-call.ts'
import { customerSubject } from './limits.ts'
import { nameEndUsers } from './name-end-users.ts'
import { boundCall, readRequest } from './read-request.ts'
import { isRefusal, refusalOfExcess, refusals, type Refusal } from './refusal.ts'
import type { RunningCall } from './running-calls.ts'
import { coverRequest } from './shield/cover-request.ts'

/** Serves calls of one kind. Resolves after the client received an answer or a refusal. */
export type ServeCall<Body = Buffer> = (
  incoming: IncomingCall<Body>,
  client: Client,
) => Promise<void>

export function createServeCall<
  Body,
  Request extends CallRequest,
  Outcome extends { kind: string },
>(deps: GatewayParts, kind: CallKind<Body, Request, Outcome>): ServeCall<Body> {
  return async function serveCall(incoming, client) {
    const admitting = deps.observer.begin('admit')
    const admitted = await readAdmitted(deps, kind, incoming).finally(() => admitting?.end())
    if (admitted.kind === 'not_admitted') return refuseAndCount(deps, incoming, client, admitted)
    const { request, models } = admitted
    // Nobody waits for the answer of a client that left while its body waited to be read.
    if (client.hasLeft()) {
      kind.dispose?.(request)
      await countRequest(deps, incoming.ip, admitted.key)
      return
    }
    const room = takeRoom(deps, kind, admitted)
    if ('refused' in room) {
      kind.dispose?.(request)
      const asked = askedFor(models[0], request)
      return refuseAndCount(deps, incoming, client, { ...room, asked })
    }
    try {
      for (const [index, model] of models.entries()) {
        const of = { key: admitted.key, asked: askedFor(model, request) }
        const bounds = await boundCall(deps, kind, admitted, model, admitted.key.customerId)
        const held = await holdMoney(deps, incoming, admitted, model, bounds, index > 0)
        if ('refused' in held)
          return refuseCall(deps, incoming, client, { ...of, refused: held.refused }, held.limits)

        const failure = await serveHeldCall(deps, kind, incoming, client, held, admitted)
        if (failure === undefined) return
        // The hold is resolved. If the customer named a fallback model, that model starts with its own hold.
        const isOver = index === models.length - 1 || client.hasLeft() || isFinal(failure)
        if (isOver)
          return refuseCall(
            deps,
            incoming,
            client,
            { ...of, refused: refusalOf(failure) },
            held.limits,
          )
      }
    } finally {
      for (const held of room) held[Symbol.dispose]()
      kind.dispose?.(request)
    }
  }
}

/** Admits, reads, shields and names: everything before money. */
export async function readAdmitted<
  Body,
  Request extends CallRequest,
  Outcome extends { kind: string },
>(
  deps: GatewayParts,
  kind: CallKind<Body, Request, Outcome>,
  incoming: IncomingCall<Body>,
): Promise<Admitted<Request> | NotAdmitted> {
  const caller = await admit(deps, incoming)
  if ('refused' in caller) return caller
  const { key } = caller
  const read = await readRequest(deps, kind, incoming, key)
  if (isRefusal(read)) return refuse(read, key)
  let isAdmitted = false
  try {
    const covered = await coverRequest(deps, kind, read.request, key)
    if (isRefusal(covered)) return refuse(covered, key)
    const request = nameEndUsers(covered.request, key.customerId)
    const conversationOf = (): string | undefined => {
      const name = kind.conversationOf?.(request, incoming.sessionId)
      return name === undefined ? undefined : `${key.customerId} ${name}`
    }
    let span: CallSpan | undefined
    const models = findModels(deps, kind, key, request, {
      conversationOf,
      spanOf: () => (span ??= spanOf(deps.config, 1 + request.fallbackModelIds.length)),
    })
    if (isRefusal(models)) {
      const modelId = findAsked(deps, request.modelId).model?.id
      return { ...refuse(models, key), asked: { modelId, isStream: request.isStream } }
    }
    isAdmitted = true
    const { isTimed } = read
    // Prices that begin later may be above `max_price`.
    const pricesUntilMs = span?.untilMs ?? Infinity
    const { masked } = covered
    const admitted = { ...caller, masked, request, isTimed, models, pricesUntilMs, conversationOf }
    return { kind: 'admitted', ...admitted }
  } finally {
    if (!isAdmitted) kind.dispose?.(read.request)
  }
}

/** Takes one of the customer's calls at once, one of the key's if it has a limit, and the memory for its answer. */
function takeRoom<Request extends CallRequest>(
  { slots, bodies }: GatewayParts,
  kind: Pick<CallKind<never, Request, never>, 'answerBytesMax'>,
  { key, models, request }: Admitted<Request>,
): readonly Held[] | NotAdmitted {
  const { customerId, callsAtOnce } = key
  const taken: Held[] = []
  const giveBack = (refused: Refusal): NotAdmitted => {
    for (const held of taken) held[Symbol.dispose]()
    return { kind: 'not_admitted', refused, key }
  }
  const ofCustomer = slots.take(customerId)
  if (typeof ofCustomer === 'string') return giveBack(refusals.tooManyCalls(slots.ownMax))
  taken.push(ofCustomer)
  if (callsAtOnce !== null) {
    const ofKey = slots.take(key.id, 1, callsAtOnce)
    if (typeof ofKey === 'string') return giveBack(refusals.tooManyKeyCalls(callsAtOnce))
    taken.push(ofKey)
  }
  const bytes = Math.max(...models.map((model) => kind.answerBytesMax?.(model, request) ?? 0))
  if (bytes > 0) {
    const ofAnswer = bodies.take(customerSubject(customerId), bytes)
    if (typeof ofAnswer === 'string') return giveBack(refusalOfExcess(ofAnswer))
    taken.push(ofAnswer)
  }
  return taken
}

/**
 * The way of a stream's hold to the disk overlaps the work of its upstream; the first byte to the client waits for it.
 * If this checkpoint is lost, a later one of the call follows.
 */
function makeHoldDurable({ calls, ledger }: GatewayParts, { holdId: id, key }: HeldCall): void {
  const checkpoint = { id, customerId: key.customerId, outputTokensSeen: 0 }
  void ledger.checkpoint([checkpoint]).then((kept) => calls.recordDurable(kept))
}

/** Runs a held call to its end and resolves the hold. Returns the failure if no upstream answered. */
async function serveHeldCall<Body, Request extends CallRequest, Outcome extends { kind: string }>(
  deps: GatewayParts,
  kind: CallKind<Body, Request, Outcome>,
  incoming: IncomingCall<Body>,
  client: Client,
  money: HeldCall<Request>,
  { cache: choice, isTimed }: Admitted<Request>,
): Promise<UpstreamFailure | undefined> {
  let held = money
  const { holdId: id, epoch, key } = held
  const running = deps.calls.begin(
    { id, customerId: key.customerId, epoch, caller: { keyId: key.id, client } },
    held.isDurable,
  )
  if (held.request.isStream && !held.isDurable) makeHoldDurable(deps, held)
  const ending = new AbortController()
  const timer = setTimeout(() => ending.abort(), deps.config.callTimeoutMs)
  const named = kind.readAddresses?.(held.request)
  using kept = named && deps.bodies.open(customerSubject(key.customerId))
  let isResolved = false
  try {
    const read = kept && named && (await readAddresses(deps, named, held, client, { ending, kept }))
    // Once the lease has lapsed, another node may resolve this hold at any time, so it cannot cover the call.
    if (!deps.lease.isHeld(epoch)) {
      await resolve(deps, releaseHeldCall(held, 'lease_lapsed'), running)
      refuseUnavailable(deps, incoming, client, held)
      return undefined
    }
    // The client left while its money was being held, or its documents were read: nothing is sent.
    if (client.hasLeft()) {
      await resolve(deps, releaseHeldCall(held, 'client_left'), running)
      return undefined
    }
    if (read?.kind === 'failure') {
      await resolve(deps, releaseHeldCall(held, read.reason), running)
      return read
    }
    if (read) held = { ...held, request: read.request }
    const dispatchedAtMs = performance.now()
    const cache = choice && (await openCallCache(deps, kind, held, choice, isTimed))
    const recalled = cache && (await recall(deps, cache, held))
    if (cache) held = { ...held, limits: { ...held.limits, cache: recalled ? 'hit' : 'miss' } }
    const answer = recalled ?? (await callUpstream(deps, kind, held, client, ending))
    const called = cache && !recalled && answer.kind === 'called' ? cache.record(answer) : answer
    const answeredBy = createAnsweredBy(held, called, dispatchedAtMs)
    if (called.kind === 'not_called') {
      const resolution = await resolveNotCalled(kind, held, called, client, answeredBy)
      await resolve(deps, resolution, running)
      return called.failure
    }
    try {
      const relayed = await relay(deps, kind, held, called, answeredBy, client, running)
      if (relayed.kind === 'deferred') {
        isResolved = await relayed.handOver()
        if (!isResolved) await refuseUndeferred(deps, incoming, client, held, running)
        else {
          relayed.send()
          answered(deps, incoming, held, called, dispatchedAtMs)
        }
        return undefined
      }
      if (relayed.brokenBy)
        reportFailure(deps, held, called.route, called.routeCall, relayed.brokenBy)
      const settled = settle(deps, held, relayed.resolution, running)
      const written = relayed.write()
      const resolved = await settled
      const text = typeof written === 'string' ? written : await written
      isResolved = true
      // Never deliver an answer whose charge is not durable; for a stream, never deliver its end.
      if (!isDurable(resolved)) {
        if (running.isDelivered) deps.deliveries.note(held.holdId, relayed.resolution.billedNanoBrl)
        if (relayed.refuse) endUnavailable(deps, incoming, client, held, relayed)
        else refuseUnavailable(deps, incoming, client, held)
        return undefined
      }
      // A charge in the spool shows that the database is away.
      if (relayed.keep && resolved.kind !== 'spooled') await relayed.keep()
      if (cache && !recalled && resolved.kind !== 'spooled') await cache.keep(relayed.resolution)
      relayed.send(text)
      deps.deliveries.note(held.holdId, relayed.resolution.billedNanoBrl)
      answered(deps, incoming, held, called, dispatchedAtMs)
    } finally {
      called.routeCall.end()
      called.kept[Symbol.dispose]()
    }
    return undefined
  } catch (error) {
    // After an internal error the customer pays only for output that was already delivered.
    if (!isResolved) await resolve(deps, resolveFault(held, running), running)
    throw error
  } finally {
    clearTimeout(timer)
    running.end()
  }
}

/** Reads what the request names, until the client leaves: nothing is billed for it yet. */
function readAddresses<Request extends CallRequest>(
  { pace }: GatewayParts,
  read: ReadAddresses<Request>,
  { key }: HeldCall,
  client: Client,
  { ending, kept }: { ending: AbortController; kept: Held },
): ReturnType<ReadAddresses<Request>> {
  const left = new AbortController()
  client.onLeave(() => left.abort())
  const signal = AbortSignal.any([ending.signal, left.signal])
  return read({ signal, takeBytes: takeAtPace(kept, pace, key.customerId) })
}

/** The upstream works on, and nobody will ask it for the result: the customer owes nothing. */
async function refuseUndeferred(
  deps: GatewayParts,
  incoming: IncomingCall<unknown>,
  client: Client,
  held: HeldCall,
  running: RunningCall,
): Promise<void> {
  await resolve(deps, releaseHeldCall(held, 'not_delivered'), running)
  refuseUnavailable(deps, incoming, client, held)
}

/** The answer to an equal call, which takes memory as one that has just arrived. */
async function recall<Outcome>(
  { bodies }: GatewayParts,
  cache: CallCache<Outcome>,
  { key }: HeldCall,
): Promise<Called<Outcome> | undefined> {
  const kept = bodies.open(customerSubject(key.customerId))
  const recalled = await cache.recall(kept)
  if (!recalled) kept[Symbol.dispose]()
  return recalled
}

/**
 * Releases a call that no upstream answered. If the client hung up while an upstream was working on the call, the
 * customer owes the prompt: see docs/http.md, "What an interrupted call costs".
 */
function resolveNotCalled<Request extends CallRequest, Outcome extends { kind: string }>(
  kind: CallKind<never, Request, Outcome>,
  held: HeldCall<Request>,
  { failure }: NotCalled,
  client: Client,
  answeredBy: () => AnsweredBy,
): Resolution | Promise<Resolution> {
  if (!client.hasLeft()) return releaseHeldCall(held, failure.reason, answeredBy())
  return failure.isByClient && kind.chargeLeft
    ? kind.chargeLeft(held, answeredBy())
    : releaseHeldCall(held, 'client_left', answeredBy())
}

/** The resolution after an internal error: charges the delivered output, or releases the hold if there is none. */
function resolveFault(held: HeldCall, running: RunningCall): Resolution {
  if (!running.isDelivered) return releaseHeldCall(held, 'internal_error')
  const { promptTokensEstimated: promptTokens, quote } = held
  const used = estimated({ promptTokens, completionTokens: running.tokens }, 'internal_error')
  const by = { ...NOT_TIMED, price: quote.price }
  return { ...chargeHeldCall(held, used, by), isFinal: true }
}

/** Whether the resolution is committed, or synced to the spool on disk, from which it is replayed. */
function isDurable({ kind }: Resolved): boolean {
  return kind === 'committed' || kind === 'corrected' || kind === 'spooled'
}

/** Stores the resolution. The end of the answer may leave only if `isDurable` is true for the result. */
async function settle(
  deps: GatewayParts,
  held: HeldCall,
  resolution: Resolution,
  running: RunningCall,
): Promise<Resolved> {
  alarmOperator(deps, held, resolution)
  const usedAtMs = performance.now()
  // Delivered output is the authority, even if another node has resolved the hold in the meantime.
  const final = running.isDelivered ? { ...resolution, isFinal: true } : resolution
  const resolved = await resolve(deps, final, running)
  if (isDurable(resolved))
    deps.observer.settled(
      resolved.kind === 'spooled' ? 'spooled' : 'committed',
      performance.now() - usedAtMs,
    )
  else deps.log.error('answer_not_delivered', { holdId: held.holdId, resolved: resolved.kind })
  return resolved
}

async function resolve(
  { ledger, observer }: GatewayParts,
  resolution: Resolution,
  running: RunningCall,
): Promise<Resolved> {
  const step = observer.begin('settle')
  const { id, outcome, usageKind, reason, promptTokens, completionTokens } = resolution
  step?.set({
    holdId: id,
    outcome,
    usageKind,
    reason: reason ?? '',
    promptTokens,
    completionTokens,
  })
  const resolved = await ledger.resolve(resolution, running)
  step?.set({ resolved: resolved.kind })
  if (resolved.kind === 'unavailable' || resolved.kind === 'missing') step?.fail(resolved.kind)
  step?.end()
  return resolved
}

async function relay<Body, Request extends CallRequest, Outcome extends { kind: string }>(
  { observer }: GatewayParts,
  kind: CallKind<Body, Request, Outcome>,
  ...of: Parameters<CallKind<Body, Request, Outcome>['relay']>
): Promise<Ending | Deferral> {
  const step = observer.begin('relay')
  try {
    const ending = await kind.relay(...of)
    if (ending.kind) return ending
    if (ending.brokenBy) step?.fail(ending.brokenBy.reason)
    const [held, , , client] = of
    return client.keep ? await keepFirst(ending, held, client) : ending
  } finally {
    step?.end()
  }
}

/** The answer is stored before it is charged; one that may not be stored is released, and not answered. */
async function keepFirst(ending: Ending, held: HeldCall, client: Client): Promise<Ending> {
  const text = await ending.write()
  if (await client.keep?.(held.holdId, text)) return { ...ending, write: () => text }
  return { resolution: releaseHeldCall(held, 'client_left'), write: () => '', send() {} }
}

/** Reports an upstream whose usage is above the hold, or cannot be true. */
function alarmOperator(
  { log, observer }: GatewayParts,
  { holdId, quote }: HeldCall,
  { upstreamId, reason, billedNanoBrl }: Resolution,
): void {
  if (reason === 'impossible_usage_reported')
    log.error('impossible_usage_reported', { holdId, upstreamId })
  if (billedNanoBrl <= quote.ceilingNanoBrl) return
  observer.overrun()
  const heldNanoBrl = quote.ceilingNanoBrl
  log.error('charge_above_hold', { holdId, upstreamId, heldNanoBrl, billedNanoBrl })
}

/** Returns the upstream that answered, or was tried last, with the duration measured when it is called. */
function createAnsweredBy(
  held: HeldCall,
  { route, tries, calledAtMs }: Called<unknown> | NotCalled,
  dispatchedAtMs: number,
): () => AnsweredBy {
  const isFirst = tries.length === 1 && tries[0]?.outcome === 'answered'
  const attempts = isFirst || tries.length === 0 ? null : JSON.stringify(tries)
  return () => ({
    upstreamId: route?.upstreamId ?? null,
    price: route ? chargedPrice(route, held.span, Date.now()) : held.quote.price,
    firstByteMs: Math.round(calledAtMs - dispatchedAtMs),
    durationMs: Math.round(performance.now() - dispatchedAtMs),
    attempts,
  })
}

function answered(
  deps: GatewayParts,
  incoming: IncomingCall<unknown>,
  held: HeldCall,
  { calledAtMs }: Called<unknown>,
  dispatchedAtMs: number,
): void {
  const { receivedAtMs } = incoming
  deps.observer.answered({
    ...askedFor(held.model, held.request),
    status: 200,
    durationMs: performance.now() - receivedAtMs,
    firstByteMs: calledAtMs - receivedAtMs,
    upstreamMs: calledAtMs - dispatchedAtMs,
  })
}

function refuseUnavailable(
  deps: GatewayParts,
  incoming: IncomingCall<unknown>,
  client: Client,
  { key, model, request, limits }: HeldCall,
): void {
  const refused = refusals.serviceUnavailable()
  refuseCall(deps, incoming, client, { refused, key, asked: askedFor(model, request) }, limits)
}

/** The same for a stream that has begun. */
function endUnavailable(
  deps: GatewayParts,
  incoming: IncomingCall<unknown>,
  client: Client,
  { key, model, request }: HeldCall,
  ending: Pick<Ending, 'refuse'>,
): void {
  const refused = refusals.serviceUnavailable()
  const reader = client.hasLeft() ? undefined : key
  ending.refuse?.(refused)
  noteRefusal(deps, incoming, { refused, key: reader, asked: askedFor(model, request) })
}

/** The labels of a call in the metrics. */
function askedFor(model: Model, { isStream }: CallRequest): Asked & { readonly modelId: string } {
  return { modelId: model.id, isStream }
}
