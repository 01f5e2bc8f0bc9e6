/** Why a call failed, in words for customers: the gateway's own words say which route did what. */
export const FAILURES = [
  'client_left',
  'request_refused',
  'model_busy',
  'model_slow',
  'model_failed',
  'service_failed',
] as const

export type CallFailure = (typeof FAILURES)[number]

const BY_REASON: Readonly<Record<string, CallFailure>> = {
  client_left: 'client_left',
  not_delivered: 'client_left',
  refused_request: 'request_refused',
  unsupported: 'request_refused',
  answer_too_long: 'request_refused',
  rate_limited: 'model_busy',
  unpaid_work: 'model_busy',
  no_room: 'model_busy',
  first_byte_timeout: 'model_slow',
  idle_timeout: 'model_slow',
  aborted: 'model_slow',
  connect_failed: 'model_failed',
  connection_lost: 'model_failed',
  server_error: 'model_failed',
  bad_answer: 'model_failed',
  credentials_refused: 'model_failed',
}

/** A reason that is not listed is a fault of the service itself, such as a lost node. */
export function failureOf(reason: string | null): CallFailure {
  return (reason === null ? undefined : BY_REASON[reason]) ?? 'service_failed'
}
