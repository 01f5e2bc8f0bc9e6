import { errors } from 'undici'
import type { UpstreamFailure } from './contract.ts'

/** Aborted before the dispatcher had a connection for it: the upstream knows nothing of it. */
export class NotSent extends Error {
  constructor(cause: unknown) {
    super('aborted before it was sent', { cause })
    this.name = 'AbortError'
  }
}

/** How much of an upstream's error is kept for the operator's log. */
const DETAIL_CHARACTERS_MAX = 300

/** An answer that is not a success. */
export function readRefusal(
  status: number,
  retryAfter: string | undefined,
  body: string,
): UpstreamFailure {
  return {
    kind: 'failure',
    reason: reasonOf(status),
    status,
    ...retryAfterOf(retryAfter),
    detail: `${status} ${body.slice(0, DETAIL_CHARACTERS_MAX)}`,
  }
}

/** A call that got no answer, or half of one. */
export function readError(error: unknown): UpstreamFailure {
  const detail = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return {
    kind: 'failure',
    reason: errorReasonOf(error),
    detail: detail.slice(0, DETAIL_CHARACTERS_MAX),
    ...(error instanceof NotSent ? { isUnsent: true } : {}),
  }
}

function reasonOf(status: number): UpstreamFailure['reason'] {
  if (status === 429) return 'rate_limited'
  if (status === 401 || status === 403) return 'credentials_refused'
  if (status === 400 || status === 413 || status === 415 || status === 422) return 'refused_request'
  return 'server_error'
}

function errorReasonOf(error: unknown): UpstreamFailure['reason'] {
  if (error instanceof errors.HeadersTimeoutError) return 'first_byte_timeout'
  if (error instanceof errors.BodyTimeoutError) return 'idle_timeout'
  if (error instanceof errors.ConnectTimeoutError) return 'connect_failed'
  if (error instanceof errors.RequestAbortedError) return 'aborted'
  const { name, code } = error as { name?: string; code?: string }
  if (name === 'AbortError') return 'aborted'
  if (
    code !== undefined &&
    ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT'].includes(
      code,
    )
  ) {
    return 'connect_failed'
  }
  return 'connection_lost'
}

/** Only the form in seconds: a date would trust the upstream's clock. */
function retryAfterOf(header: string | undefined): { retryAfterSeconds?: number } {
  if (header === undefined || !/^\d{1,6}(\.\d+)?$/.test(header)) return {}
  return { retryAfterSeconds: Math.ceil(Number(header)) }
}
