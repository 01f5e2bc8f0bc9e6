import { unseal } from '../../platform/lib/seal.ts'
import { postToReceiver, type PostOptions, type ReceiverSettings } from '../receiver.ts'
import type { LeasedAttempt } from './lease-attempts.ts'
import { signWebhook } from './sign-webhook.ts'

export interface TryOutcome {
  readonly isDelivered: boolean
  readonly latencyMs: number
  readonly error: string | undefined
  readonly httpStatus?: number
  /** How long a receiver asks us to wait, if it may. */
  readonly retryAfter?: string | undefined
  readonly responseHead?: string
}

const RESPONSE_BYTES_MAX = 2_048
const GONE = 410
/** Statuses by which a receiver asks for more time: too many requests, and gateways whose server is unavailable. */
const SLOW_DOWN = new Set([429, 502, 504])

/** Signs each try anew. A failure of the receiver is an outcome; throws a `SealError`. */
export async function postAttempt(
  attempt: LeasedAttempt,
  at: Date,
  options: PostOptions,
): Promise<TryOutcome> {
  const headers = headersOf(attempt, at, options)
  const message = { headers, body: attempt.body, bytesMax: RESPONSE_BYTES_MAX }
  const { latencyMs, ...answer } = await postToReceiver(attempt.url, message, options)
  if (answer.status === null) {
    const { error, code } = answer
    const named = code === undefined ? error : `${error}: ${code.slice(0, 60)}`
    return { isDelivered: false, latencyMs, error: named }
  }
  const { status, retryAfter, head } = answer
  const isDelivered = status >= 200 && status < 300
  return {
    isDelivered,
    latencyMs,
    error: isDelivered ? undefined : errorOf(status),
    httpStatus: status,
    retryAfter: SLOW_DOWN.has(status) ? retryAfter : undefined,
    responseHead: readable(head),
  }
}

function headersOf(
  attempt: LeasedAttempt,
  at: Date,
  { sealingKey, previousSealingKey }: ReceiverSettings,
): Record<string, string> {
  const timestampSeconds = Math.floor(at.getTime() / 1000)
  const { id, messageId, body } = attempt
  const { endpointId, secretSealed } = attempt
  const secret = unseal(sealingKey, endpointId, secretSealed, previousSealingKey)
  return {
    'content-type': 'application/json',
    'user-agent': 'Catraca',
    'webhook-id': messageId,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signWebhook(secret, { id: messageId, timestampSeconds, body }),
    'x-svc-delivery-id': id,
  }
}

function errorOf(status: number): string {
  if (status === GONE) return 'gone'
  return status >= 300 && status < 400 ? 'redirect' : 'http_status'
}

/** As text that PostgreSQL can store: whole characters, no NUL, and no more bytes than were received. */
function readable(head: Buffer): string {
  const text = head.toString('utf8').replaceAll('\0', ' ')
  let bytes = 0
  let kept = ''
  for (const letter of text) {
    bytes += Buffer.byteLength(letter)
    if (bytes > RESPONSE_BYTES_MAX) break
    kept += letter
  }
  return kept
}
