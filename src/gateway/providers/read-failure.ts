import { errors } from 'undici'
import type { UpstreamFailure } from './contract.ts'
import { withErrorWords } from './error-words.ts'
import { findRequestFault } from './find-request-fault.ts'
import { HeadTimeout } from './http1/connection.ts'
import { BadResponse } from '../../platform/lib/response-reader.ts'
import { SilentTooLong } from './watch-silence.ts'

/** Thrown when the call was aborted while it waited for a connection: nothing was sent to the upstream. */
export class NotSent extends Error {
  constructor(cause: unknown) {
    super('aborted before it was sent', { cause })
    this.name = 'AbortError'
  }
}

/** Thrown when an answer is longer than the gateway reads. The upstream bills it all the same. */
export class AnswerTooLong extends Error {
  constructor(bytesMax: number) {
    super(`the answer is longer than ${bytesMax} bytes`)
    this.name = 'AnswerTooLong'
  }
}

/** Thrown when the memory for the calls of this customer, or of the node, is used up. */
export class NoRoomForAnswer extends Error {
  readonly code = 'NO_ROOM_FOR_ANSWER'
  override readonly name = 'NoRoomForAnswer'
  constructor() {
    super('the answer does not fit into the memory')
  }
}

/** Thrown when the answer is in a form that the gateway does not read. */
export class UnreadableAnswer extends Error {
  readonly code = 'UNREADABLE_ANSWER'
}

const OWN_ERRORS = [
  NotSent,
  AnswerTooLong,
  NoRoomForAnswer,
  UnreadableAnswer,
  SilentTooLong,
  HeadTimeout,
  BadResponse,
]

/** Returns the failure for an answer with an error status. The customer's text in its body reaches no log. */
export function readRefusal(
  status: number,
  headers: RetryHeaders | undefined,
  body: string,
): UpstreamFailure {
  const fault = findRequestFault(body)
  const reason = reasonOf(status, fault)
  const requestFault = reason === 'refused_request' ? fault : undefined
  return {
    kind: 'failure',
    reason,
    status,
    ...retryAfterOf(headers),
    ...(requestFault && { requestFault }),
    detail: withErrorWords(String(status), body),
  }
}

/** Returns the failure for a call that got no answer, or only part of one. */
export function readError(error: unknown): UpstreamFailure {
  return {
    kind: 'failure',
    reason: errorReasonOf(error),
    detail: errorDetail(error),
    ...(error instanceof NotSent ? { isUnsent: true } : {}),
    // The upstream has answered, and bills it.
    ...(error instanceof NoRoomForAnswer ? { isFinal: true } : {}),
  }
}

/** The message only of our own errors: those of parsers quote what they read. */
function errorDetail(error: unknown): string {
  if (OWN_ERRORS.some((own) => error instanceof own)) return (error as Error).message
  const { name, code } = (error ?? {}) as { name?: unknown; code?: unknown }
  return [name, code].filter((word) => typeof word === 'string').join(' ') || typeof error
}

function reasonOf(
  status: number,
  fault: UpstreamFailure['requestFault'],
): UpstreamFailure['reason'] {
  if (status === 429) return 'rate_limited'
  // Moderation answers with the status for a key without permission.
  if (status === 403 && fault === 'content_refused') return 'refused_request'
  if (status === 401 || status === 403) return 'credentials_refused'
  if (status === 400 || status === 413 || status === 415 || status === 422) return 'refused_request'
  return 'server_error'
}

function errorReasonOf(error: unknown): UpstreamFailure['reason'] {
  if (error instanceof errors.HeadersTimeoutError || error instanceof HeadTimeout)
    return 'first_byte_timeout'
  if (error instanceof SilentTooLong) return error.reason
  if (error instanceof AnswerTooLong || error instanceof errors.ResponseExceededMaxSizeError) {
    return 'answer_too_long'
  }
  if (error instanceof NoRoomForAnswer) return 'no_room'
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

/** The headers of a refusal that say when to try again. */
export interface RetryHeaders {
  readonly 'retry-after'?: string | string[] | undefined
  readonly 'retry-after-ms'?: string | string[] | undefined
  /** The upstream's clock, which its date of `retry-after` goes by. */
  readonly date?: string | string[] | undefined
}

const NUMBER = /^\d{1,9}(\.\d+)?$/
const RETRY_SECONDS_MAX = 999_999

/** Seconds or a date (RFC 9110, 10.2.3), and the milliseconds that several providers send beside. */
function retryAfterOf(headers: RetryHeaders = {}): { retryAfterSeconds?: number } {
  const [after, afterMs, date] = [headers['retry-after'], headers['retry-after-ms'], headers.date]
  const seconds = isNumber(afterMs)
    ? Number(afterMs) / 1_000
    : isNumber(after)
      ? Number(after)
      : (Date.parse(String(after)) - (Date.parse(String(date)) || Date.now())) / 1_000
  if (!(seconds >= 0) || seconds > RETRY_SECONDS_MAX) return {}
  return { retryAfterSeconds: Math.ceil(seconds) }
}

function isNumber(header: string | string[] | undefined): header is string {
  return typeof header === 'string' && NUMBER.test(header)
}
