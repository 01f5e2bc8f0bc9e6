/**
 * The values of the rate-limit headers. For model calls they are the database's counts. Other requests are not
 * counted, so their answers carry this node's last known counts of the same minute.
 */
import type { Verdict } from '../ledger/attempt.ts'

export interface Limits {
  /** Requests per minute. */
  readonly limit: number
  readonly remaining: number
  /** Unix time in seconds at which the counter resets. */
  readonly resetAt: number
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
}

const MINUTE_MS = 60_000

export function createLimitsView(now: () => number = Date.now): LimitsView {
  let minute = 0
  let used = new Map<string, number>()

  function turnTo(atMs: number): number {
    const current = Math.floor(atMs / MINUTE_MS)
    if (current > minute) {
      minute = current
      used = new Map()
    }
    return (current + 1) * 60
  }

  return {
    counted({ subject, limit }, sequence, at) {
      const resetAt = turnTo(at.getTime())
      used.set(subject, Math.max(sequence, used.get(subject) ?? 0))
      return { limit, remaining: Math.max(0, limit - sequence), resetAt }
    },
    lastKnown({ subject, limit }) {
      const resetAt = turnTo(now())
      return { limit, remaining: Math.max(0, limit - (used.get(subject) ?? 0)), resetAt }
    },
  }
}

export function keySubject(key: { id: string; requestsPerMinute: number }): LimitSubject {
  return { subject: `k:${key.id}`, limit: key.requestsPerMinute }
}

export function ipSubject(ip: string, limit: number): LimitSubject {
  return { subject: `i:${ip}`, limit }
}

/** Seconds from the verdict until the counters reset; at least one. */
export function secondsToReset(verdict: Verdict): number {
  return Math.max(1, 60 - Math.floor((verdict.at.getTime() % MINUTE_MS) / 1000))
}
