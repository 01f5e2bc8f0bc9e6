/**
 * The error codes of providers. Their error texts quote prompts, so the log gets only the words of this list that occur
 * in them: no text of a customer can be among them.
 */
const ERROR_WORDS: ReadonlySet<string> = new Set([
  // OpenAI and upstreams of its format.
  'invalid_request_error',
  'invalid_api_key',
  'insufficient_quota',
  'rate_limit_exceeded',
  'tokens_limit_exceeded',
  'context_length_exceeded',
  'string_above_max_length',
  'model_not_found',
  'unsupported_parameter',
  'unsupported_value',
  'unknown_parameter',
  'missing_required_parameter',
  'invalid_value',
  'invalid_type',
  'invalid_json',
  'invalid_image',
  'invalid_image_format',
  'image_parse_error',
  'content_filter',
  'content_policy_violation',
  'moderation_blocked',
  'server_error',
  'engine_overloaded',
  'billing_hard_limit_reached',
  'account_deactivated',
  // Anthropic.
  'authentication_error',
  'permission_error',
  'not_found_error',
  'request_too_large',
  'rate_limit_error',
  'api_error',
  'overloaded_error',
  'timeout_error',
  'billing_error',
  // Google.
  'INVALID_ARGUMENT',
  'FAILED_PRECONDITION',
  'PERMISSION_DENIED',
  'UNAUTHENTICATED',
  'NOT_FOUND',
  'RESOURCE_EXHAUSTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DEADLINE_EXCEEDED',
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'PROHIBITED_CONTENT',
  'BLOCKLIST',
  'SAFETY',
  'RECITATION',
  'SPII',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'NO_IMAGE',
  'IMAGE_OTHER',
  'IMAGE_RECITATION',
  'MAX_TOKENS',
  'LANGUAGE',
  'OTHER',
  'STOP',
  // Access tokens.
  'invalid_grant',
  'invalid_client',
  'unauthorized_client',
  // Bedrock.
  'ValidationException',
  'ThrottlingException',
  'AccessDeniedException',
  'ResourceNotFoundException',
  'ServiceUnavailableException',
  'ServiceQuotaExceededException',
  'InternalServerException',
  'ModelErrorException',
  'ModelNotReadyException',
  'ModelStreamErrorException',
  'modelStreamErrorException',
  'internalServerException',
  'serviceUnavailableException',
  'throttlingException',
  'validationException',
  'ModelTimeoutException',
  'ExpiredTokenException',
  'UnrecognizedClientException',
  'malformed_tool_use',
  'malformed_model_output',
  // Cohere.
  'ERROR',
  'ERROR_TOXIC',
  'TIMEOUT',
])
const WORDS_MAX = 5

/** Returns the known error codes within an upstream's text, in their order; empty if there are none. */
export function errorWords(text: string): string {
  const found = new Set((text.match(/\w+/g) ?? []).filter((word) => ERROR_WORDS.has(word)))
  return [...found].slice(0, WORDS_MAX).join(' ')
}

/** Returns `prefix` alone, or with the known codes of the text. */
export function withErrorWords(prefix: string, text: string): string {
  const words = errorWords(text)
  return words === '' ? prefix : `${prefix}: ${words}`
}
