import type { Refusal } from '../../../refusal.ts'

const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
}

/**
 * Writes the JSON body of an error answer in the Messages format, whose `type` clients read. Our own `code` is added,
 * because several codes share a type. The request id is also in the header `x-request-id`.
 */
export function messagesErrorBody({ status, code, message }: Refusal, requestId?: string): string {
  return JSON.stringify({
    type: 'error',
    error: { type: TYPES[status] ?? 'api_error', message, code },
    ...(requestId === undefined ? {} : { request_id: requestId }),
  })
}
