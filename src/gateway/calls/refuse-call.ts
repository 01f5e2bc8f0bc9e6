import type { ActiveKey } from '../../customers/key-cache.ts'
import type { Asked, NotAdmitted } from './call.ts'
import type { Client, IncomingCall } from './client.ts'
import type { GatewayParts, GatewayObserver } from './gateway-parts.ts'
import { ipSubject, keySubject, secondsToReset, type Limits } from './limits.ts'
import { refusals, type Refusal } from './refusal.ts'

/** The part of a call that is known before its body is read. */
export type IncomingCaller = Omit<IncomingCall<unknown>, 'body' | 'sessionId' | 'maxCostBrl'>

/** What a refusal is counted by. */
export interface RefusalDeps {
  readonly observer: Pick<GatewayObserver, 'refused'>
}

export function refuseCall(
  deps: RefusalDeps,
  incoming: Pick<IncomingCaller, 'receivedAtMs'>,
  client: Client,
  refusal: RefusalOfCall,
  limits: Limits,
): void {
  // A customer's own counts are of the answers that arrived.
  const hasLeft = client.hasLeft()
  client.refuse(refusal.refused, limits)
  noteRefusal(deps, incoming, hasLeft ? { ...refusal, key: undefined } : refusal)
}

/** A refusal, and whose call it was of what: `key` is undefined if it was not recognised. */
type RefusalOfCall = Omit<NotAdmitted, 'kind'>

/** Counts an error that was the answer of a call, or the end of its stream. */
export function noteRefusal(
  { observer }: RefusalDeps,
  { receivedAtMs }: Pick<IncomingCaller, 'receivedAtMs'>,
  { refused, key, asked = NOT_READ }: RefusalOfCall,
): void {
  const { status, code } = refused
  observer.refused({ key, status, code, ...asked, durationMs: performance.now() - receivedAtMs })
}

const NOT_READ: Asked = { modelId: undefined, isStream: false }

/** Refuses a call before the hold, and counts it against the rate limits. */
export async function refuseAndCount(
  deps: GatewayParts,
  incoming: Pick<IncomingCaller, 'ip' | 'receivedAtMs'>,
  client: Client,
  { refused, key, asked }: NotAdmitted,
): Promise<void> {
  const { limits, reached } = await countRequest(deps, incoming.ip, key)
  return refuseCall(deps, incoming, client, { refused: reached ?? refused, key, asked }, limits)
}

/**
 * Counts a request that holds no money against the rate limit of its key, if known, and of its address, unless the
 * account has held money within this minute: then its key's limit is the one that applies. If one of them is reached, the
 * result has the refusal.
 */
export async function countRequest(
  deps: GatewayParts,
  ip: string,
  key: ActiveKey | undefined,
): Promise<{ limits: Limits; reached?: Refusal }> {
  const address = ipSubject(ip, deps.config.requestsPerMinutePerIp)
  const isOfAddress = !key || !deps.limits.hasHeld(key.customerId)
  const counted = { ip: isOfAddress ? ip : null, ipLimit: address.limit, key }
  const verdict = await deps.ledger.count(counted)
  const subject = key ? keySubject(key) : address
  if (verdict.kind === 'unavailable') return { limits: deps.limits.lastKnown(subject) }
  if (verdict.kind === 'ip_limited') {
    if (key) deps.limits.noteShort(key.id)
    deps.limits.noteReached(address, verdict)
    const limits = deps.limits.counted(address, verdict.ipSequence ?? 0, verdict.at)
    return { limits, reached: refusals.ipLimited(secondsToReset(verdict)) }
  }
  const sequence = key ? verdict.keySequence : verdict.ipSequence
  const limits = deps.limits.counted(subject, sequence ?? 0, verdict.at)
  if (verdict.kind === 'key_limited') {
    deps.limits.noteReached(subject, verdict)
    return { limits, reached: refusals.keyLimited(secondsToReset(verdict)) }
  }
  return { limits }
}

/** Refusals for lack of money of the account, whichever of its keys asks. */
const OF_ACCOUNT: ReadonlySet<string> = new Set(['insufficient_balance', 'balance_on_hold'])

/**
 * Counts a call with a recognised key for the limit of its address if it was refused because money is missing or on
 * hold: many keys without free money must not ask the database more often than that.
 */
export async function countShort(
  deps: GatewayParts,
  ip: string,
  key: ActiveKey,
  refused: Refusal,
): Promise<void> {
  const isOfAccount = OF_ACCOUNT.has(refused.code)
  if (refused.status !== 402 && !isOfAccount) return
  deps.limits.noteShort(isOfAccount ? key.customerId : key.id)
  const address = ipSubject(ip, deps.config.requestsPerMinutePerIp)
  const verdict = await deps.ledger.count({ ip, ipLimit: address.limit })
  if (verdict.kind === 'ip_limited') deps.limits.noteReached(address, verdict)
}
