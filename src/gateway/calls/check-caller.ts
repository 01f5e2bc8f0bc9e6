/**
 * What is known of a call before its body is read. It only saves work: a call that passes is judged again, and the
 * ledger alone decides on money and limits.
 */
import type { ActiveKey } from '../../customers/key-cache.ts'
import { wideNetwork } from '../../platform/lib/client-networks.ts'
import type { RateLimiter } from '../../platform/admission/rate.ts'
import type { Room } from '../../money/ledger/find-balance.ts'
import { identify, identifyCached } from './admit.ts'
import type { Client } from './client.ts'
import type { GatewayParts } from './gateway-parts.ts'
import { ipSubject, keySubject, type LimitSubject } from './limits.ts'
import { refuseAndCount, refuseCall, type IncomingCaller } from './refuse-call.ts'
import { isRefusal, refusals, type Refusal } from './refusal.ts'

/**
 * Returns the key of a call that may go on, or undefined if the client has been refused. Almost every call is answered
 * without a promise, so that its body is read in the same turn.
 */
export type CheckCaller = (
  incoming: IncomingCaller,
  body: ExpectedBody,
  openClient: () => Client,
) => ActiveKey | undefined | Promise<ActiveKey | undefined>

export interface ExpectedBody {
  /** The declared length; undefined if only the end of the body shows its size. */
  readonly bytes: number | undefined
  /** The refusal for this customer's body, if the memory for bodies is used up. */
  readonly findFault: (customerId: string, bytes: number) => Refusal | undefined
}

/** The size from which on the balance is read before the body, unless the customer held money within this minute. */
const BALANCE_BEFORE_BYTES = 256 * 1024
/** A node with at least so many calls, whose timers are at least so late, refuses new ones. */
const LATE_MS_MAX = 100
const BUSY_CALLS_MIN = 200
/** A customer who has fewer calls at once than this is served all the same. */
const FEW_CALLS = 20
/** One tenant gets 65,536 networks of the size /64 in a /48 without effort. */
const WIDE_FACTOR = 10

export function createCheckCaller(
  deps: GatewayParts,
  /**
   * Only on this server: it protects the counts of addresses in the database from an IPv6 network with many addresses.
   */
  wide: RateLimiter,
): CheckCaller {
  function refuseWide(
    incoming: IncomingCaller,
    openClient: () => Client,
    key: ActiveKey | undefined,
  ): boolean {
    const network = wideNetwork(incoming.ip)
    if (network === undefined) return false
    const seconds = wide.take(`c:${network}`, deps.config.requestsPerMinutePerIp * WIDE_FACTOR)
    if (seconds === undefined) return false
    const limits = deps.limits.lastKnown(ipSubject(incoming.ip, deps.config.requestsPerMinutePerIp))
    const none = { ...limits, remaining: 0 }
    refuseCall(deps, incoming, openClient(), { refused: refusals.ipLimited(seconds), key }, none)
    return true
  }

  /** Without a query: the database said in this minute that the limit is reached. */
  function refuseReached(
    incoming: IncomingCaller,
    openClient: () => Client,
    key: ActiveKey | undefined,
    subject: LimitSubject,
    refusalOf: (seconds: number) => Refusal,
  ): boolean {
    const seconds = deps.limits.reachedFor(subject)
    if (seconds === undefined) return false
    const limits = deps.limits.lastKnown(subject)
    refuseCall(deps, incoming, openClient(), { refused: refusalOf(seconds), key }, limits)
    return true
  }

  /** Of this node's own resources. */
  function findNodeFault(key: ActiveKey, body: ExpectedBody): Refusal | undefined {
    if (deps.slots.findExcess(key.customerId)) return refusals.tooManyCalls(deps.slots.ownMax)
    if (key.callsAtOnce !== null && deps.slots.findExcess(key.id, 1, key.callsAtOnce))
      return refusals.tooManyKeyCalls(key.callsAtOnce)
    return body.findFault(key.customerId, body.bytes ?? 0)
  }

  function needsBalance(key: ActiveKey, { bytes }: ExpectedBody): boolean {
    const isSmall = bytes !== undefined && bytes < BALANCE_BEFORE_BYTES
    return !isSmall && !deps.limits.hasHeld(key.customerId)
  }

  async function findFault(key: ActiveKey, body: ExpectedBody): Promise<Refusal | undefined> {
    const fault = findNodeFault(key, body)
    return fault ?? (needsBalance(key, body) ? faultOf(key, await deps.readRoom(key)) : undefined)
  }

  /** The key of a call against which nothing speaks that this node knows already. */
  function passAtOnce(key: ActiveKey, body: ExpectedBody): ActiveKey | undefined {
    const isFree = deps.limits.reachedFor(keySubject(key)) === undefined
    return isFree && !findNodeFault(key, body) && !needsBalance(key, body) ? key : undefined
  }

  async function checkSlowly(
    incoming: IncomingCaller,
    body: ExpectedBody,
    openClient: () => Client,
  ): Promise<ActiveKey | undefined> {
    const key = await identify(deps, incoming)
    if ('refused' in key) {
      await refuseAndCount(deps, incoming, openClient(), key)
      return undefined
    }
    if (refuseReached(incoming, openClient, key, keySubject(key), refusals.keyLimited))
      return undefined
    const fault = await findFault(key, body).catch((error: unknown) => {
      deps.log.error('room_lookup_failed', { requestId: incoming.requestId, error })
      return refusals.serviceUnavailable()
    })
    if (!fault || !isRefusal(fault)) return key
    await refuseAndCount(deps, incoming, openClient(), {
      kind: 'not_admitted',
      refused: fault,
      key,
    })
    return undefined
  }

  /** The limits of its network are for the calls of everybody else. */
  function hasOwnLimit(key: ActiveKey): boolean {
    return !deps.limits.wasShort(key.customerId) && !deps.limits.wasShort(key.id)
  }

  /**
   * Calls that run have what time there is. The refusal costs neither a query nor the body. Customers with few calls are
   * served on: one with many would close the node to all.
   */
  function refuseBusy(
    incoming: IncomingCaller,
    openClient: () => Client,
    key: ActiveKey | undefined,
  ): boolean {
    const { calls, lateness, limits, config, slots } = deps
    if (lateness.ms < LATE_MS_MAX || calls.size < BUSY_CALLS_MIN) return false
    if (!key || !slots.findExcess(key.customerId, 1, FEW_CALLS)) return false
    const known = limits.lastKnown(ipSubject(incoming.ip, config.requestsPerMinutePerIp))
    refuseCall(deps, incoming, openClient(), { refused: refusals.nodeBusy(), key }, known)
    return true
  }

  return function checkCaller(incoming, body, openClient) {
    const known = identifyCached(deps, incoming)
    const isRefused = known !== undefined && 'refused' in known
    const key = isRefused ? undefined : known
    const owner = isRefused ? known.key : known
    if (!key || !hasOwnLimit(key)) {
      const address = ipSubject(incoming.ip, deps.config.requestsPerMinutePerIp)
      if (refuseReached(incoming, openClient, owner, address, refusals.ipLimited)) return undefined
      if (refuseWide(incoming, openClient, owner)) return undefined
    }
    if (refuseBusy(incoming, openClient, key)) return undefined
    return (key && passAtOnce(key, body)) ?? checkSlowly(incoming, body, openClient)
  }
}

/** The refusal for an amount above zero, however small. */
function faultOf(
  key: ActiveKey,
  { balanceNanoBrl, heldNanoBrl, budgetLeftPicoUsd, teamLeftNanoBrl }: Room,
): Refusal | undefined {
  if (balanceNanoBrl <= 0n) return refusals.insufficientBalance(key)
  if (balanceNanoBrl <= heldNanoBrl) return refusals.balanceOnHold()
  if (teamLeftNanoBrl !== null && teamLeftNanoBrl <= 0n) return refusals.teamCapExceeded(undefined)
  if (budgetLeftPicoUsd !== null && budgetLeftPicoUsd <= 0n)
    return refusals.budgetExceeded(undefined)
  return undefined
}
