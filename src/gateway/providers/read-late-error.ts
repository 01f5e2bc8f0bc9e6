import { isObject } from '../../platform/lib/is-object.ts'
import type { JsonObject, UpstreamFailure } from './contract.ts'
import { withErrorWords } from './error-words.ts'
import { readRefusal } from './read-failure.ts'

/**
 * Returns the failure for an error that an upstream reports after the head of its answer. A fault of the request fails
 * as it does with an error status, so that one customer's requests close no route to the others. Any other error is the
 * upstream's fault. `place` starts the detail for the log.
 */
export function readLateError(error: unknown, place: string): UpstreamFailure {
  const text = JSON.stringify(error ?? null)
  const status = isObject(error) ? statusOf(error) : undefined
  const refusal = status === undefined ? undefined : readRefusal(status, undefined, text)
  if (refusal?.reason === 'refused_request') return refusal
  return { kind: 'failure', reason: 'server_error', detail: withErrorWords(place, text) }
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
