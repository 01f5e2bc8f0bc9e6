/**
 * READ THIS FIRST: the way of a chat completion.
 *
 *   admit    who calls, for which model, and is the request sound?
 *   quote    what can it cost at most?             } hold-money.ts
 *   hold     is that free in the balance? set it aside }
 *   call     the upstream, over the model's routes
 *   relay    its answer to the client, reading the usage on the way
 *   settle   charge what was used, or release the hold; the last byte leaves after the commit
 *
 * Once money is held, every way out of here resolves the hold, exactly once. What a dying process
 * leaves held, `reconcile.ts` resolves.
 */
import type { Resolution } from '../ledger/resolution.ts'
import type { ChatAnswer, ChatStream } from '../providers/contract.ts'
import { admit, type NotAdmitted } from './admit.ts'
import { callUpstream, refusalOf, type Called } from './call-upstream.ts'
import { chargeHeldCall, estimateUsed, releaseHeldCall, type CallTimes } from './charge.ts'
import type { Client, IncomingCall } from './client.ts'
import type { GatewayDeps } from './gateway-deps.ts'
import { holdMoney, type HeldCall } from './hold-money.ts'
import { ipSubject, keySubject, secondsToReset } from './limits.ts'
import { outputTexts, publicAnswer, usageChunk, type AnswerHead } from './public-chat.ts'
import { refusalBody, refusals, type Refusal } from './refusal.ts'
import { believable, relayStream, resolveStream } from './relay-stream.ts'

export type CompleteChat = (incoming: IncomingCall, client: Client) => Promise<void>

export function createCompleteChat(deps: GatewayDeps): CompleteChat {
  return async function completeChat(incoming, client) {
    const admitted = await admit(deps, incoming)
    if (admitted.kind === 'not_admitted') return refuseAndCount(deps, incoming, client, admitted)

    const held = await holdMoney(deps, incoming, admitted)
    if ('refused' in held) return refuse(deps, incoming, client, held.refused, held.limits)

    const running = deps.calls.begin(held.holdId)
    const timeout = new AbortController()
    const timer = setTimeout(() => timeout.abort(), deps.callTimeoutMs)
    try {
      const dispatchedAtMs = performance.now()
      const called = await callUpstream(deps, held, timeout.signal)
      const answeredAtMs = performance.now()
      const times = timesOf(called.upstreamId, dispatchedAtMs, answeredAtMs)
      const head = headOf(held)
      switch (called.outcome.kind) {
        case 'failure': {
          await deps.ledger.resolve(releaseHeldCall(held, called.outcome.reason, times))
          return refuse(deps, incoming, client, refusalOf(called.outcome), held.limits)
        }
        case 'answer': {
          const resolution = await resolveAnswer(held, called.outcome, times)
          const settled = settle(deps, held, resolution)
          // Written while the charge is committed, sent when it is.
          const text = publicAnswer(head, called.outcome.body, resolution)
          await settled
          client.answer(text, held.limits)
          return answered(deps, incoming, held, answeredAtMs - dispatchedAtMs)
        }
        case 'stream': {
          const relayed = await relayStream(
            held,
            called as Called & { outcome: ChatStream },
            head,
            client,
            running,
          )
          const streamTimes = timesOf(called.upstreamId, dispatchedAtMs, relayed.firstByteAtMs)
          const resolution = await resolveStream(held, relayed, streamTimes)
          await settle(deps, held, resolution)
          client.endStream(lastEvents(held, relayed.ending, head, resolution))
          return answered(
            deps,
            incoming,
            held,
            (relayed.firstByteAtMs ?? performance.now()) - dispatchedAtMs,
          )
        }
      }
    } catch (error) {
      // A fault of ours: the customer does not pay for it. Harmless where the hold was resolved before.
      await deps.ledger.resolve(releaseHeldCall(held, 'internal_error'))
      throw error
    } finally {
      clearTimeout(timer)
      running.end()
    }
  }
}

/** A call refused before any money was asked for still counts: against its address, and its key if known. */
async function refuseAndCount(
  deps: GatewayDeps,
  incoming: IncomingCall,
  client: Client,
  { refused, key }: NotAdmitted,
): Promise<void> {
  const verdict = await deps.ledger.count({
    ip: incoming.ip,
    ipLimit: deps.ipRequestsPerMinute,
    key,
  })
  const subject = key ? keySubject(key) : ipSubject(incoming.ip, deps.ipRequestsPerMinute)
  if (verdict.kind === 'away')
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

async function resolveAnswer(
  held: HeldCall,
  answer: ChatAnswer,
  times: CallTimes,
): Promise<Resolution> {
  const texts = outputTexts(answer.body, 'message')
  const used =
    believable(answer.usage, texts.length > 0) ??
    (await estimateUsed(held, texts, 'no_usage_reported'))
  return chargeHeldCall(held, used, times)
}

/** After this the outcome is durable, and the end of the answer may leave. */
async function settle(deps: GatewayDeps, held: HeldCall, resolution: Resolution): Promise<void> {
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
  const kept = await deps.ledger.resolve(resolution)
  deps.observer.settled(kept, performance.now() - usedAtMs)
}

/** What follows the last chunk: the usage if it was asked for, and the end; or why there is no end. */
function lastEvents(
  held: HeldCall,
  ending: 'whole' | 'broken' | 'left',
  head: AnswerHead,
  resolution: Resolution,
): string {
  if (ending !== 'whole') return `data: ${refusalBody(refusals.streamBroken())}\n\n`
  const usage = held.request.wantsUsage ? usageChunk(head, resolution) : ''
  return `${usage}data: [DONE]\n\n`
}

function headOf(held: HeldCall): AnswerHead {
  return {
    id: `chatcmpl-${held.holdId}`,
    created: Math.floor(Date.now() / 1000),
    modelId: held.model.id,
  }
}

function timesOf(
  upstreamId: string,
  dispatchedAtMs: number,
  firstByteAtMs: number | undefined,
): CallTimes {
  return {
    upstreamId,
    firstByteMs: firstByteAtMs === undefined ? null : Math.round(firstByteAtMs - dispatchedAtMs),
    durationMs: Math.round(performance.now() - dispatchedAtMs),
  }
}

function refuse(
  deps: GatewayDeps,
  incoming: IncomingCall,
  client: Client,
  refused: Refusal,
  limits: HeldCall['limits'],
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
  incoming: IncomingCall,
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
