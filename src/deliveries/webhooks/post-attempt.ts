import { GuardedFetchError, guardedPost, type Lookup } from '../../platform/lib/guarded-fetch.ts'
import { unseal } from '../../platform/lib/seal.ts'
import type { LeasedAttempt } from './lease-attempts.ts'
import { signWebhook } from './sign-webhook.ts'
import type { WebhookSettings } from './webhook-settings.ts'

export interface TryOutcome {
  readonly isDelivered: boolean
  readonly httpStatus: number | undefined
  readonly retryAfter: string | undefined
  readonly latencyMs: number
  readonly responseHead: string | undefined
  readonly error: string | undefined
}

export interface PostOptions extends WebhookSettings {
  /** Limit of the whole try. */
  readonly timeoutMs: number
  readonly lookup?: Lookup
}

const RESPONSE_BYTES_MAX = 2_048
const BODY_TIMEOUT_MS = 2_000
const GONE = 410

/** Signs each try anew. A failure of the receiver is an outcome; throws a `SealError`. */
export async function postAttempt(
  attempt: LeasedAttempt,
  at: Date,
  options: PostOptions,
): Promise<TryOutcome> {
  const headers = headersOf(attempt, at, options)
  const { allowPrivate, lookup, timeoutMs } = options
  const startedMs = performance.now()
  const latency = (): number => Math.round(performance.now() - startedMs)
  try {
    if (!options.allowHttp && !attempt.url.startsWith('https://'))
      return failure('https_required', latency())
    const { status, retryAfter, head } = await guardedPost(attempt.url, {
      headers,
      body: attempt.body,
      bytesMax: RESPONSE_BYTES_MAX,
      bodyTimeoutMs: BODY_TIMEOUT_MS,
      timeoutMs,
      allowPrivate,
      ...(lookup ? { lookup } : {}),
    })
    const isDelivered = status >= 200 && status < 300
    return {
      isDelivered,
      httpStatus: status,
      retryAfter,
      latencyMs: latency(),
      responseHead: readable(head),
      error: isDelivered ? undefined : errorOf(status),
    }
  } catch (error) {
    if (!(error instanceof GuardedFetchError)) throw error
    return failure(reasonOf(error), latency())
  }
}

function headersOf(
  attempt: LeasedAttempt,
  at: Date,
  { sealingKey, previousSealingKey }: WebhookSettings,
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

function failure(error: string, latencyMs: number): TryOutcome {
  return {
    isDelivered: false,
    httpStatus: undefined,
    retryAfter: undefined,
    latencyMs,
    responseHead: undefined,
    error,
  }
}

function reasonOf({ reason, code }: GuardedFetchError): string {
  if (reason === 'timeout' || reason === 'refused_address' || reason === 'bad_url') return reason
  return code === undefined ? 'connection_failed' : `connection_failed: ${code.slice(0, 60)}`
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
