import type { IncomingHttpHeaders } from 'undici/types/header.js'

/** Asaas blocks a client that continues after a 429 for longer, so no endpoint is called before its limit has reset. */
export interface RateGate {
  /** Seconds until the endpoint may be called; undefined if it may be called now. */
  secondsLeft(endpoint: string): number | undefined
  /** Reads an answer's headers. Returns the seconds until the next call is allowed, if the limit is used up. */
  note(endpoint: string, status: number, headers: IncomingHttpHeaders): number | undefined
}

/** For a 429 that names no time. */
const SECONDS_DEFAULT = 5
/** A wrong header must not stop top-ups for a day: after this time the next call is sent. */
const SECONDS_MAX = 300

export function createRateGate(now: () => number = () => Date.now()): RateGate {
  const freeAt = new Map<string, number>()
  return {
    secondsLeft(endpoint) {
      const left = (freeAt.get(endpoint) ?? 0) - now()
      if (left > 0) return Math.ceil(left / 1000)
      freeAt.delete(endpoint)
      return undefined
    },
    note(endpoint, status, headers) {
      const seconds = secondsOf(headers['retry-after']) ?? secondsOf(headers['ratelimit-reset'])
      const isUsedUp = secondsOf(headers['ratelimit-remaining']) === 0 && seconds !== undefined
      if (status !== 429 && !isUsedUp) return undefined
      const pause = Math.min(seconds ?? SECONDS_DEFAULT, SECONDS_MAX)
      freeAt.set(endpoint, now() + pause * 1000)
      return seconds ?? SECONDS_DEFAULT
    },
  }
}

function secondsOf(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d{1,12}$/.test(header) ? Number(header) : undefined
}
