import { errors } from 'undici'
import type { UpstreamFailure } from './contract.ts'
import { SilentTooLong } from './watch-silence.ts'

/** The call was aborted while it waited for a connection: nothing was sent to the upstream. */
export class NotSent extends Error {
  constructor(cause: unknown) {
    super('aborted before it was sent', { cause })
    this.name = 'AbortError'
  }
}

/** The answer is longer than the gateway reads. */
export class AnswerTooLong extends Error {
  constructor(bytesMax: number) {
    super(`the answer is longer than ${bytesMax} bytes`)
    this.name = 'AnswerTooLong'
  }
}

/** The answer is in a form that the gateway does not read. */
export class UnreadableAnswer extends Error {
  readonly code = 'UNREADABLE_ANSWER'
}

/** The part of an upstream's error that is kept for the operator's log. */
const DETAIL_CHARACTERS_MAX = 300

/** The failure for an answer with an error status. */
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

/** The failure for a call that got no answer, or only part of one. */
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
  if (error instanceof SilentTooLong) return error.reason
  if (error instanceof AnswerTooLong || error instanceof errors.ResponseExceededMaxSizeError) {
    return 'answer_too_long'
  }
  if (error instanceof UnreadableAnswer) return 'bad_answer'
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

/** Reads the form in seconds only; a date would depend on the upstream's clock. */
function retryAfterOf(header: string | undefined): { retryAfterSeconds?: number } {
  if (header === undefined || !/^\d{1,6}(\.\d+)?$/.test(header)) return {}
  return { retryAfterSeconds: Math.ceil(Number(header)) }
}
