/** Why a destination took nothing, in words of the API. */
export const DESTINATION_ERRORS = [
  'timeout',
  'refused_address',
  'https_required',
  'connection_failed',
  'redirect',
  'unauthorized',
  'not_found',
  'http_status',
  'spans_refused',
  'batch_refused',
  'batch_too_large',
  'secret_unreadable',
] as const
export type DestinationError = (typeof DESTINATION_ERRORS)[number]
