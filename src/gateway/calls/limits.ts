/**
 * The values of the rate-limit headers. For model calls they are the database's counts. Other requests are not
 * counted, so their answers carry this node's last known counts of the same minute.
 */
import { nearNetwork } from '../../platform/lib/client-networks.ts'
import type { Verdict } from '../../money/ledger/attempt.ts'

export interface Limits {
  /** Requests per minute. */
  readonly limit: number
  readonly remaining: number
  /** Unix time in seconds at which the counter resets. */
  readonly resetAt: number
  /** Whether a cached answer served the call; undefined for a call that does not use the cache. */
  readonly cache?: 'hit' | 'miss' | undefined
}

/** A key with its own limit, or an address with the limit for addresses. */
export interface LimitSubject {
  readonly subject: string
  readonly limit: number
}

export interface LimitsView {
  /** After a counted request. */
  counted(subject: LimitSubject, sequence: number, at: Date): Limits
  /** Without counting. */
  lastKnown(subject: LimitSubject): Limits
  /** The database said that this limit is reached. */
  noteReached(subject: LimitSubject, verdict: Pick<Verdict, 'at'>): void
  /** The seconds until the limit counts anew, if the database said in this minute that it is reached. */
  reachedFor(subject: LimitSubject): number | undefined
  /** The customer's last hold was granted, or refused for the balance. */
  noteHold(customerId: string, isGranted: boolean): void
  /** Whether the customer's last hold was granted, within this minute. */
  hasHeld(customerId: string): boolean
  /**
   * A call was refused because money was missing, or counted for an address whose limit is reached: of the whole account,
   * by the customer's id, or of one key, by the key's.
   */
  noteShort(id: string): void
  /** Whether that was noted within this minute; a granted hold ends it for the account. */
  wasShort(id: string): boolean
}

const MINUTE_MS = 60_000
const REACHED_MAX = 100_000

export function createLimitsView(
  now: () => number = Date.now,
  monotonic: () => number = () => performance.now(),
): LimitsView {
  let minute = 0
  let used = new Map<string, number>()
  let held = new Set<string>()
  let short = new Set<string>()
  /** Times of this process's monotonic clock, so that a difference to the database's clock does not matter. */
  const reached = new Map<string, { readonly limit: number; readonly untilMs: number }>()

  function turnTo(atMs: number): number {
    const current = Math.floor(atMs / MINUTE_MS)
    if (current > minute) {
      minute = current
      used = new Map()
      held = new Set()
      short = new Set()
      for (const [subject, { untilMs }] of reached)
        if (untilMs <= monotonic()) reached.delete(subject)
    }
    return (current + 1) * 60
  }

  const view: LimitsView = {
    counted({ subject, limit }, sequence, at) {
      const resetAt = turnTo(at.getTime())
      used.set(subject, Math.max(sequence, used.get(subject) ?? 0))
      return { limit, remaining: Math.max(0, limit - sequence), resetAt }
    },
    lastKnown({ subject, limit }) {
      const resetAt = turnTo(now())
      const isReached = view.reachedFor({ subject, limit }) !== undefined
      const left = isReached ? 0 : limit - (used.get(subject) ?? 0)
      return { limit, remaining: Math.max(0, left), resetAt }
    },
    noteReached({ subject, limit }, { at }) {
      if (reached.size >= REACHED_MAX) return
      const ms = MINUTE_MS - (at.getTime() % MINUTE_MS)
      reached.set(subject, { limit, untilMs: monotonic() + ms })
    },
    reachedFor({ subject, limit }) {
      const found = reached.get(subject)
      // A limit that was raised meanwhile is not reached.
      if (!found || found.limit < limit) return undefined
      const ms = found.untilMs - monotonic()
      return ms > 0 ? Math.ceil(ms / 1_000) : undefined
    },
    noteHold(customerId, isGranted) {
      if (isGranted) held.add(customerId)
      else held.delete(customerId)
      if (isGranted) short.delete(customerId)
    },
    noteShort: (id) => void short.add(id),
    hasHeld(customerId) {
      turnTo(now())
      return held.has(customerId)
    },
    wasShort(id) {
      turnTo(now())
      return short.has(id)
    },
  }
  return view
}

export function keySubject(key: { id: string; requestsPerMinute: number }): LimitSubject {
  return { subject: `k:${key.id}`, limit: key.requestsPerMinute }
}

/** Returns the subject under which the memory of a customer's calls is counted. */
export function customerSubject(customerId: string): string {
  return `c:${customerId}`
}

export function ipSubject(ip: string, limit: number): LimitSubject {
  return { subject: `i:${nearNetwork(ip)}`, limit }
}

/** Returns the seconds from the verdict until the counters reset; at least one. */
export function secondsToReset(verdict: Verdict): number {
  return Math.max(1, 60 - Math.floor((verdict.at.getTime() % MINUTE_MS) / 1000))
}
