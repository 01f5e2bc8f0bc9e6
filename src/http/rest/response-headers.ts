import type { Limits } from '../../gateway/limits.ts'

/** Both names carry the same id: the specification uses one for answers and one for reports of errors. */
export function requestIdHeaders(requestId: string): Record<string, string> {
  return { 'x-svc-request-id': requestId, 'x-request-id': requestId }
}

export function limitHeaders(limits: Limits): Record<string, number> {
  return {
    'x-ratelimit-limit': limits.limit,
    'x-ratelimit-remaining': limits.remaining,
    'x-ratelimit-reset': limits.resetAt,
  }
}

/** A client that asks too often or sends too much connects anew: what it sent meanwhile is not served. */
export function endsConnection(status: number): boolean {
  return status === 429 || status === 413
}
