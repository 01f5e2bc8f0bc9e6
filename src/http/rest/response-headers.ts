import type { Limits } from '../../gateway/calls/limits.ts'

/** A client's own id: visible characters and spaces, which no client or proxy reads in another way. */
const OWN_ID = /^[\x20-\x7e]{1,200}$/

/**
 * `x-svc-request-id` is the client's own id as it was sent, if it sent one, and `x-request-id` the one by which we know
 * the request: the same in lower case for a UUID, else one of ours.
 */
export function requestIdHeaders(
  requestId: string,
  own: string | string[] | undefined,
): Record<string, string> {
  const shown = typeof own === 'string' && OWN_ID.test(own) ? own : requestId
  return { 'x-svc-request-id': shown, 'x-request-id': requestId }
}

export function limitHeaders(limits: Limits): Record<string, number | string> {
  return {
    'x-ratelimit-limit': limits.limit,
    'x-ratelimit-remaining': limits.remaining,
    'x-ratelimit-reset': limits.resetAt,
    ...(limits.cache && { 'x-svc-cache': limits.cache }),
  }
}

/** A client that asks too often or sends too much connects anew: what it sent meanwhile is not served. */
export function endsConnection(status: number): boolean {
  return status === 429 || status === 413
}
