/**
 * READ THIS FIRST: the way of a model call, of every kind.
 *
 *   admit    who calls, for which model, and is the request sound?
 *   quote    what can it cost at most?             } hold-money.ts
 *   hold     is that free in the balance? set it aside }
 *   call     the upstream, over the model's routes
 *   relay    its answer to the client, reading the usage on the way
 *   settle   charge what was used, or release the hold; the last byte leaves after the commit
 *
 * Once money is held, every way out of here resolves the hold, exactly once. What a dying process
 * leaves held, `reconcile.ts` resolves. What makes a kind of call is in `call-kind.ts`.
 */
import type { Resolution, Resolved } from '../ledger/resolution.ts'
import type { UpstreamFailure } from '../providers/contract.ts'
import { admit } from './admit.ts'
import type { CallKind } from './call-kind.ts'
import { callUpstream, refusalOf, reportFailure } from './call-upstream.ts'
import type { AnsweredBy, CallRequest, Called, HeldCall, NotAdmitted, NotCalled } from './call.ts'
import { chargeHeldCall, estimated, NOT_TIMED, releaseHeldCall } from './charge.ts'
import type { Client, IncomingCall } from './client.ts'
import type { GatewayDeps } from './gateway-deps.ts'
import { holdMoney } from './hold-money.ts'
import { ipSubject, keySubject, secondsToReset, type Limits } from './limits.ts'
import { refusals, type Refusal } from './refusal.ts'
import type { RunningCall } from './running-calls.ts'

/** Answers a call of one kind, whatever happens. */
export type ServeCall<Body = Buffer> = (
  incoming: IncomingCall<Body>,
  client: Client,
) => Promise<void>

export function createServeCall<
  Body,
  Request extends CallRequest,
  Outcome extends { kind: string },
>(deps: GatewayDeps, kind: CallKind<Body, Request, Outcome>): ServeCall<Body> {
  return async function serveCall(incoming, client) {
    const admitted = await admit(deps, kind, incoming)
    if (admitted.kind === 'not_admitted') return refuseAndCount(deps, incoming, client, admitted)
    const { request, models } = admitted
    try {
      for (const [place, model] of models.entries()) {
        const ask = await kind.ask(model, request, deps.providers)
        const held = await holdMoney(deps, incoming, admitted, model, ask, place > 0)
        if ('refused' in held) return refuse(deps, incoming, client, held.refused, held.limits)

        const failure = await serveHeldCall(deps, kind, incoming, client, held)
        if (failure === undefined) return
        // Its money is free again. The next model, where the customer named one, begins with its own hold.
        const isOver = place === models.length - 1 || client.hasLeft() || !isWorthAnother(failure)
        if (isOver) return refuse(deps, incoming, client, refusalOf(failure), held.limits)
      }
    } finally {
      kind.dispose?.(request)
    }
  }
}

/** Runs a call whose money is held, to its end. Returns why no upstream answered, if none did. */
async function serveHeldCall<Body, Request extends CallRequest, Outcome extends { kind: string }>(
  deps: GatewayDeps,
  kind: CallKind<Body, Request, Outcome>,
  incoming: IncomingCall<Body>,
  client: Client,
  held: HeldCall<Request>,
): Promise<UpstreamFailure | undefined> {
  const { holdId: id, epoch, key } = held
  const running = deps.calls.begin({ id, customerId: key.customerId, epoch }, !held.mayLag)
  const ending = new AbortController()
  const timer = setTimeout(() => ending.abort(), deps.callTimeoutMs)
  let isResolved = false
  try {
    // A hold that others may resolve already pays for nothing.
    if (!deps.lease.isHeld(epoch)) {
      await deps.ledger.resolve(releaseHeldCall(held, 'lease_lapsed'), running)
      refuse(deps, incoming, client, refusals.serviceUnavailable(), held.limits)
      return undefined
    }
    const dispatchedAtMs = performance.now()
    const called = await callUpstream(deps, kind, held, client, ending)
    const answeredBy = createAnsweredBy(held, called, dispatchedAtMs)
    if (called.kind === 'not_called') {
      await deps.ledger.resolve(
        await resolveNotCalled(kind, held, called, client, answeredBy),
        running,
      )
      return called.failure
    }
    try {
      const relayed = await kind.relay(held, called, answeredBy, client, running)
      if (relayed.brokenBy) reportFailure(deps, held, called.route, called.trip, relayed.brokenBy)
      const settled = settle(deps, held, relayed.resolution, running)
      const written = relayed.write()
      const resolved = await settled
      const text = typeof written === 'string' ? written : await written
      isResolved = true
      // An answer whose charge is not durable is not delivered; of a stream, its end is not.
      if (!isDurable(resolved)) {
        if (running.isDelivered) deps.deliveries.note(held.holdId, relayed.resolution.billedNanoBrl)
        if (relayed.refuse) relayed.refuse(refusals.serviceUnavailable())
        else refuse(deps, incoming, client, refusals.serviceUnavailable(), held.limits)
        return undefined
      }
      relayed.send(text)
      deps.deliveries.note(held.holdId, relayed.resolution.billedNanoBrl)
      answered(deps, incoming, held, called.calledAtMs - dispatchedAtMs)
    } finally {
      called.trip.end()
    }
    return undefined
  } catch (error) {
    // A fault of ours costs the customer what is delivered already, and nothing else.
    if (!isResolved) await deps.ledger.resolve(resolveFault(held, running), running)
    throw error
  } finally {
    clearTimeout(timer)
    running.end()
  }
}

/**
 * A call that no upstream answered is released. Where the client left while an upstream worked on it, its prompt is
 * owed: see docs/specification.md, "What an interrupted call costs".
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

/** A call refused before any money was asked for still counts: against its address, and its key if known. */
async function refuseAndCount(
  deps: GatewayDeps,
  incoming: IncomingCall<unknown>,
  client: Client,
  { refused, key }: NotAdmitted,
): Promise<void> {
  const verdict = await deps.ledger.count({
    ip: incoming.ip,
    ipLimit: deps.ipRequestsPerMinute,
    key,
  })
  const subject = key ? keySubject(key) : ipSubject(incoming.ip, deps.ipRequestsPerMinute)
  if (verdict.kind === 'unavailable')
    return refuse(deps, incoming, client, refused, deps.limits.lastKnown(subject))
  const limits = deps.limits.counted(
    subject,
    (key ? verdict.keySequence : verdict.ipSequence) ?? 0,
    verdict.at,
  )
  if (verdict.kind === 'ip_limited')
    return refuse(deps, incoming, client, refusals.ipLimited(secondsToReset(verdict)), limits)
  if (verdict.kind === 'key_limited')
    return refuse(deps, incoming, client, refusals.keyLimited(secondsToReset(verdict)), limits)
  return refuse(deps, incoming, client, refused, limits)
}

/** Another model may answer what this one did not; what was refused or left it would not either. */
function isWorthAnother({ reason }: UpstreamFailure): boolean {
  return reason !== 'refused_request' && reason !== 'aborted'
}

/** How a call ends that a fault of this program broke. */
function resolveFault(held: HeldCall, running: RunningCall): Resolution {
  if (!running.isDelivered) return releaseHeldCall(held, 'internal_error')
  const { promptTokensEstimated: promptTokens, quote } = held
  const used = estimated(held, { promptTokens, completionTokens: running.tokens }, 'internal_error')
  const by = { ...NOT_TIMED, price: quote.price }
  return { ...chargeHeldCall(held, used, by), isFinal: true }
}

/** Stored by the database, or on the disk from where the database gets it. */
function isDurable({ kind }: Resolved): boolean {
  return kind === 'committed' || kind === 'corrected' || kind === 'spooled'
}

/** After this the outcome is durable, and the end of the answer may leave, where `isDurable` says so. */
async function settle(
  deps: GatewayDeps,
  held: HeldCall,
  resolution: Resolution,
  running: RunningCall,
): Promise<Resolved> {
  if (resolution.billedNanoBrl > held.quote.ceilingNanoBrl) {
    deps.observer.overrun()
    deps.log.error('charge_above_hold', {
      holdId: held.holdId,
      upstreamId: resolution.upstreamId,
      heldNanoBrl: held.quote.ceilingNanoBrl,
      billedNanoBrl: resolution.billedNanoBrl,
    })
  }
  const usedAtMs = performance.now()
  // What the client has of a stream is the truth, whatever was made of its hold meanwhile.
  const final = running.isDelivered ? { ...resolution, isFinal: true } : resolution
  const resolved = await deps.ledger.resolve(final, running)
  if (isDurable(resolved))
    deps.observer.settled(
      resolved.kind === 'spooled' ? 'spooled' : 'committed',
      performance.now() - usedAtMs,
    )
  else deps.log.error('answer_not_delivered', { holdId: held.holdId, resolved: resolved.kind })
  return resolved
}

/** The upstream that answered, or was asked last, and how long it took until now. */
function createAnsweredBy(
  held: HeldCall,
  { route, tries, calledAtMs }: Called<unknown> | NotCalled,
  dispatchedAtMs: number,
): () => AnsweredBy {
  const price = route?.price ?? held.quote.price
  const isFirst = tries.length === 1 && tries[0]?.outcome === 'answered'
  const attempts = isFirst || tries.length === 0 ? null : JSON.stringify(tries)
  return () => ({
    upstreamId: route?.upstreamId ?? null,
    price,
    firstByteMs: Math.round(calledAtMs - dispatchedAtMs),
    durationMs: Math.round(performance.now() - dispatchedAtMs),
    attempts,
  })
}

function refuse(
  deps: GatewayDeps,
  incoming: IncomingCall<unknown>,
  client: Client,
  refused: Refusal,
  limits: Limits,
): void {
  client.refuse(refused, limits)
  const durationMs = performance.now() - incoming.receivedAtMs
  deps.observer.answered({
    model: '',
    status: refused.status,
    durationMs,
    upstreamMs: 0,
    isStream: false,
  })
}

function answered(
  deps: GatewayDeps,
  incoming: IncomingCall<unknown>,
  held: HeldCall,
  upstreamMs: number,
): void {
  const durationMs = performance.now() - incoming.receivedAtMs
  deps.observer.answered({
    model: held.model.id,
    status: 200,
    durationMs,
    upstreamMs,
    isStream: held.request.isStream,
  })
}
