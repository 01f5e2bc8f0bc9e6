import {
  APICallError,
  InvalidArgumentError,
  InvalidPromptError,
  LoadAPIKeyError,
  LoadSettingError,
  UnsupportedFunctionalityError,
} from '@ai-sdk/provider'
import { isObject } from '../../../platform/lib/is-object.ts'
import { StreamBroken, type UpstreamFailure } from '../contract.ts'
import { readDownloadFailure } from '../download-file.ts'
import { readError, readRefusal, readLateError } from '../read-failure.ts'

/** A request that this adapter cannot send. The message never quotes the request. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest'
}

const CAUSES_MAX = 10

/**
 * Converts an error that a package threw, or put into its stream, to a failure. Messages that quote the customer's or
 * the model's text are kept out of the log. An error before the request was sent is the request's own: some packages
 * throw a TypeError for a malformed JSON schema, or a RangeError for deeply nested arguments.
 */
export function toFailure(error: unknown, signal: AbortSignal, hasSent = true): UpstreamFailure {
  if (signal.aborted) return failure('aborted', 'the call was aborted')
  if (error instanceof StreamBroken) return error.failure
  const download = readDownloadFailure(error)
  if (download) return download
  if (error instanceof RefusedRequest) return failure('unsupported', error.message)
  if (APICallError.isInstance(error) && isRefusal(error.statusCode)) {
    return readRefusal(error.statusCode, error.responseHeaders, error.responseBody ?? error.message)
  }
  const network = findNetworkError(error)
  if (network) return readError(network)
  if (isRefusedByPackage(error))
    return failure('unsupported', `refused by the package: ${error.name}`)
  if (LoadAPIKeyError.isInstance(error) || LoadSettingError.isInstance(error)) {
    return failure('credentials_refused', error.name)
  }
  if (isStreamError(error)) return readStreamError(error)
  const name = error instanceof Error ? error.name : typeof error
  if (!hasSent) return failure('unsupported', `the request could not be written: ${name}`)
  // A model nests the arguments of a tool as deep as its customer asks: as with a long answer, that is no fault of the
  // upstream, which bills it.
  if (isStackOverflow(error)) return failure('answer_too_long', 'the answer is nested too deep')
  return failure('bad_answer', `the answer could not be read: ${name}`)
}

function isRefusal(status: number | undefined): status is number {
  return status !== undefined && (status < 200 || status > 299)
}

/** Finds the network error that the packages wrap, some of them twice. */
function findNetworkError(error: unknown): Error | undefined {
  let current = error
  for (let depth = 0; depth < CAUSES_MAX && current instanceof Error; depth += 1) {
    const { name, code } = current as { name: string; code?: unknown }
    if (typeof code === 'string' || name === 'AbortError') return current
    // The error that fetch throws without a cause.
    const isOfFetch = name === 'TypeError' && /^(terminated|fetch failed)$/.test(current.message)
    if (isOfFetch && current.cause === undefined) return current
    current = current.cause
  }
  return undefined
}

function isRefusedByPackage(error: unknown): error is Error {
  return (
    UnsupportedFunctionalityError.isInstance(error) ||
    InvalidArgumentError.isInstance(error) ||
    InvalidPromptError.isInstance(error)
  )
}

function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && /call stack/i.test(error.message)
}

interface StreamError {
  readonly message: string
  readonly type?: unknown
  readonly code?: unknown
  readonly statusCode?: unknown
}

/** Whether this is an upstream's error in the middle of a stream, as the packages pass it on. */
function isStreamError(error: unknown): error is StreamError {
  return isObject(error) && !(error instanceof Error) && typeof error.message === 'string'
}

function readStreamError({ message, type, code, statusCode }: StreamError): UpstreamFailure {
  const text = typeof type === 'string' ? `${type}: ${message}` : message
  return typeof statusCode === 'number' && isRefusal(statusCode)
    ? readRefusal(statusCode, undefined, text)
    : readLateError({ type, code, message }, 'error in the stream')
}

function failure(reason: UpstreamFailure['reason'], detail: string): UpstreamFailure {
  return { kind: 'failure', reason, detail }
}
