import type { ActiveKey } from '../customers/key-cache.ts'
import type { NotAdmitted } from './call.ts'
import type { Client, IncomingCall } from './client.ts'
import type { GatewayDeps } from './gateway-deps.ts'
import { ipSubject, keySubject, secondsToReset, type Limits } from './limits.ts'
import { refusals, type Refusal } from './refusal.ts'

/** The part of a call that is known before its body is read. */
export type IncomingCaller = Omit<IncomingCall<unknown>, 'body' | 'sessionId' | 'maxCostBrl'>

export function refuseCall(
  deps: Pick<GatewayDeps, 'observer'>,
  incoming: Pick<IncomingCaller, 'receivedAtMs'>,
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

/** Refuses a call before the hold, and counts it against the rate limits. */
export async function refuseAndCount(
  deps: GatewayDeps,
  incoming: Pick<IncomingCaller, 'ip' | 'receivedAtMs'>,
  client: Client,
  { refused, key }: NotAdmitted,
): Promise<void> {
  const { limits, reached } = await countRequest(deps, incoming.ip, key)
  return refuseCall(deps, incoming, client, reached ?? refused, limits)
}

/**
 * Counts a request that holds no money against the rate limits of its address and, if known, its key. If one of them is
 * reached, the result has the refusal.
 */
export async function countRequest(
  deps: GatewayDeps,
  ip: string,
  key: ActiveKey | undefined,
): Promise<{ limits: Limits; reached?: Refusal }> {
  const address = ipSubject(ip, deps.ipRequestsPerMinute)
  const verdict = await deps.ledger.count({ ip, ipLimit: address.limit, key })
  const subject = key ? keySubject(key) : address
  if (verdict.kind === 'unavailable') return { limits: deps.limits.lastKnown(subject) }
  const limits = deps.limits.counted(
    subject,
    (key ? verdict.keySequence : verdict.ipSequence) ?? 0,
    verdict.at,
  )
  if (verdict.kind === 'ip_limited') {
    deps.limits.noteReached(address, verdict)
    return { limits, reached: refusals.ipLimited(secondsToReset(verdict)) }
  }
  if (verdict.kind === 'key_limited') {
    deps.limits.noteReached(subject, verdict)
    return { limits, reached: refusals.keyLimited(secondsToReset(verdict)) }
  }
  return { limits }
}
