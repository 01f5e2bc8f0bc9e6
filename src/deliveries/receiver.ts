/** Posts to addresses that customers give: endpoints of webhooks, and collectors of usage. */
import { GuardedFetchError, guardedPost, type Lookup } from '../platform/lib/guarded-fetch.ts'
import { isOpenPort, isPublicHost } from '../platform/lib/public-address.ts'

/** The operator's settings of receivers. */
export interface ReceiverSettings {
  /** 32 bytes; the secrets of receivers are sealed with it. */
  readonly sealingKey: Buffer
  /** Opens secrets that were sealed before the key changed. */
  readonly previousSealingKey?: Buffer | undefined
  /** Also accept plain http; for sandbox mode. */
  readonly allowHttp: boolean
  /** Also send to this machine and to private networks; for tests and development. */
  readonly allowPrivate: boolean
}

export const RECEIVER_URL_MAX = 2_000

/**
 * Returns the address as it is stored, or its fault. Names are not resolved here: a name can point to another address
 * later, so every delivery checks it.
 */
export function readReceiverUrl(
  text: string,
  { allowHttp, allowPrivate }: Pick<ReceiverSettings, 'allowHttp' | 'allowPrivate'>,
): { readonly url: string } | { readonly fault: string } {
  const url = URL.parse(text)
  if (!url) return { fault: 'deve ser um endereço como https://example.com/webhooks' }
  if (url.protocol !== 'https:' && !(allowHttp && url.protocol === 'http:'))
    return { fault: `deve começar com ${allowHttp ? 'https:// ou http://' : 'https://'}` }
  if (url.username !== '' || url.password !== '') return { fault: 'não pode ter usuário nem senha' }
  if (text.includes('#')) return { fault: 'não pode ter fragmento (#)' }
  if (url.href.length > RECEIVER_URL_MAX)
    return { fault: `deve ter no máximo ${RECEIVER_URL_MAX} caracteres` }
  if (!isOpenPort(url.port)) return { fault: 'deve ter a porta 443, a 80 ou uma a partir de 1024' }
  if (!allowPrivate && !isPublicHost(url.hostname))
    return { fault: 'deve levar a um destino público, e não a uma rede privada' }
  return { url: url.href }
}

export interface PostOptions extends ReceiverSettings {
  /** Limit of the whole try. */
  readonly timeoutMs: number
  readonly lookup?: Lookup | undefined
}

export type PostAnswer =
  | {
      readonly latencyMs: number
      readonly status: number
      readonly retryAfter: string | undefined
      /** The part of the answer's body that arrived within the limits; may be empty. */
      readonly head: Buffer
    }
  | {
      readonly latencyMs: number
      readonly status: null
      readonly error:
        | 'timeout'
        | 'refused_address'
        | 'https_required'
        | 'bad_url'
        | 'connection_failed'
      /** The system's code of a failed connection. */
      readonly code?: string | undefined
    }

const BODY_TIMEOUT_MS = 2_000

/** Does not follow redirects. A failure of the receiver is an answer. */
export async function postToReceiver(
  url: string,
  message: {
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
    /** Limit of the answer; the rest of a larger one is not read. */
    readonly bytesMax: number
  },
  { allowHttp, allowPrivate, lookup, timeoutMs }: PostOptions,
): Promise<PostAnswer> {
  const startedMs = performance.now()
  const latency = (): number => Math.round(performance.now() - startedMs)
  if (!allowHttp && !url.startsWith('https://'))
    return { latencyMs: latency(), status: null, error: 'https_required' }
  try {
    const posted = await guardedPost(url, {
      ...message,
      bodyTimeoutMs: BODY_TIMEOUT_MS,
      timeoutMs,
      allowPrivate,
      ...(lookup ? { lookup } : {}),
    })
    return { latencyMs: latency(), ...posted }
  } catch (error) {
    if (!(error instanceof GuardedFetchError)) throw error
    const { reason, code } = error
    const isNamed = reason === 'timeout' || reason === 'refused_address' || reason === 'bad_url'
    return {
      latencyMs: latency(),
      status: null,
      error: isNamed ? reason : 'connection_failed',
      code,
    }
  }
}
