import { errors } from 'undici'
import type { UpstreamFailure, JsonObject } from './contract.ts'
import { withErrorWords } from './error-words.ts'
import { HeadTimeout } from './http1/connection.ts'
import { BadResponse } from '../../platform/lib/response-reader.ts'
import { SilentTooLong } from './watch-silence.ts'
import { isObject } from '../../platform/lib/is-object.ts'

/** The words of providers for a prompt that exceeds the context of a model. */
const CONTEXT_TOO_LONG = new RegExp(
  [
    // OpenAI, Azure, Groq, DeepSeek, vLLM, xAI.
    'context_length_exceeded',
    'maximum (?:context|prompt) length',
    // Anthropic, Bedrock, Vertex.
    'prompt is too long',
    'input is too long',
    'exceeds? (?:the )?context (?:limit|window)',
    // Google.
    'input token count',
    // Mistral, Cohere.
    'too large for model with',
    'too many tokens',
  ].join('|'),
  'i',
)

/** The codes of providers for content that their rules forbid; as values, because texts may quote a prompt. */
const CONTENT_REFUSED = new RegExp(
  [
    '"(?:content_policy_violation|content_filter|moderation_blocked|ResponsibleAIPolicyViolation|PROHIBITED_CONTENT|BLOCKLIST|SAFETY|IMAGE_SAFETY)"',
    // OpenAI, Responses.
    '"(?:bio_policy|image_content_policy_violation)"',
    // OpenRouter, as the name of a field.
    '"flagged_input"',
    // xAI, at the beginning of its text.
    '(?<!\\\\)"Content violates usage guidelines',
  ].join('|'),
)

/**
 * Why an upstream refused a request, where clients act on it: they shorten the conversation, or show the user that the
 * content is not allowed. A wrong guess changes the words of a refusal, and whether a 403 is about our key.
 */
export function findRequestFault(body: string): UpstreamFailure['requestFault'] {
  if (CONTENT_REFUSED.test(body)) return 'content_refused'
  return CONTEXT_TOO_LONG.test(body) ? 'context_too_long' : undefined
}

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

/**
 * Returns the failure for an error that an upstream reports after the head of its answer. A fault of the request fails
 * as it does with an error status, so that one customer's requests close no route to the others. Any other error is the
 * upstream's fault. `where` starts the detail for the log.
 */
export function readLateError(error: unknown, where: string): UpstreamFailure {
  const text = JSON.stringify(error ?? null)
  const status = isObject(error) ? statusOf(error) : undefined
  const refusal = status === undefined ? undefined : readRefusal(status, undefined, text)
  if (refusal?.reason === 'refused_request') return refusal
  return { kind: 'failure', reason: 'server_error', detail: withErrorWords(where, text) }
}

/** The status that the upstream sends with this error before the head of an answer, as far as the error shows it. */
function statusOf({ code, type }: JsonObject): number | undefined {
  const status = typeof code === 'number' || typeof code === 'string' ? Number(code) : undefined
  if (status !== undefined && status >= 400 && status <= 599) return status
  if (typeof code === 'string' && REQUEST_CODES.has(code)) return 400
  const isOfRequest =
    type === 'invalid_request_error' && !(typeof code === 'string' && OPERATOR_CODE.test(code))
  return isOfRequest ? 400 : undefined
}

/** Codes for the content of a request, where no status and no type says it. */
const REQUEST_CODES: ReadonlySet<string> = new Set([
  // Of `ResponseErrorCode` in the Responses format.
  'invalid_prompt',
  'bio_policy',
  'invalid_image',
  'invalid_image_format',
  'invalid_base64_image',
  'invalid_image_url',
  'image_too_large',
  'image_too_small',
  'image_parse_error',
  'image_content_policy_violation',
  'invalid_image_mode',
  'image_file_too_large',
  'unsupported_image_media_type',
  'empty_image_file',
  'failed_to_download_image',
  'image_file_not_found',
  // Of all formats.
  'context_length_exceeded',
  'string_above_max_length',
  'content_filter',
  'content_policy_violation',
  'moderation_blocked',
])

/** The type of an invalid request comes with these codes, too: they are about our key, our account or the upstream. */
const OPERATOR_CODE =
  /api_key|auth|account|billing|quota|rate_limit|organization|project|country|residency|permission|model_not_found|server|overload|timeout|unavailable/i
