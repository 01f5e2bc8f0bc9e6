/** The connections, headers and paths that all calls to one upstream share. */
import { Pool } from 'undici'
import { openOrigin, type Origin } from '../http1/open-origin.ts'
import type { SilenceLimits } from '../watch-silence.ts'
import { connectForUploads } from './connect-for-uploads.ts'

export interface UpstreamOptions {
  /** Including the version segment, such as `https://api.example.com/v1`. */
  readonly baseUrl: string
  readonly apiKey: string | undefined
  /** How the key is sent; `api-key` is Azure's header. Default: `bearer`. */
  readonly authentication?: 'bearer' | 'api-key' | undefined
  readonly organization?: string | undefined
  readonly project?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Added to every request, such as Azure's `api-version`. */
  readonly query?: Readonly<Record<string, string>> | undefined
  readonly connectTimeoutMs: number
  /**
   * Until the head of the answer, and then until the first byte of its body. For a plain answer this includes all of the
   * model's work, for a stream its reasoning before the first chunk.
   */
  readonly firstByteTimeoutMs: number
  /** Between two reads of the body. */
  readonly idleTimeoutMs: number
  readonly connectionsMax: number
}

export interface Upstream {
  /** For bodies that are a text. */
  readonly origin: Origin
  /** For bodies that are read while they are sent. */
  readonly uploads: Pool
  readonly silence: SilenceLimits
  readonly hostname: string
  /** The headers of a call with a JSON body. */
  readonly headers: Readonly<Record<string, string>>
  /** The full path and query for an endpoint, which starts with a slash. */
  readonly path: (endpoint: string) => string
  /** Closes all connections; running calls fail. */
  readonly close: () => Promise<void>
}

const KEEP_ALIVE_MS = 30_000

export function openUpstream(options: UpstreamOptions): Upstream {
  const url = new URL(options.baseUrl)
  const base = url.pathname.replace(/\/$/, '')
  const query = new URLSearchParams(options.query).toString()
  const origin = openOrigin(url, {
    connectTimeoutMs: options.connectTimeoutMs,
    headTimeoutMs: options.firstByteTimeoutMs,
    connectionsMax: options.connectionsMax,
    keepAliveMs: KEEP_ALIVE_MS,
  })
  const uploads = new Pool(url.origin, {
    connections: options.connectionsMax,
    pipelining: 1,
    headersTimeout: options.firstByteTimeoutMs,
    // `watchSilence` limits the silence within a body, because the limit changes with its first byte.
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: connectForUploads({ timeout: options.connectTimeoutMs }),
  })
  return {
    origin,
    uploads,
    silence: { firstByteMs: options.firstByteTimeoutMs, idleMs: options.idleTimeoutMs },
    hostname: url.hostname,
    headers: requestHeaders(options),
    path: (endpoint) => `${base}${endpoint}${query === '' ? '' : `?${query}`}`,
    async close() {
      origin.destroy()
      await uploads.destroy()
    },
  }
}

function requestHeaders(options: UpstreamOptions): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'user-agent': 'catraca',
    ...credentials(options),
    ...(options.organization === undefined ? {} : { 'openai-organization': options.organization }),
    ...(options.project === undefined ? {} : { 'openai-project': options.project }),
    ...options.headers,
  }
}

function credentials({ apiKey, authentication }: UpstreamOptions): Record<string, string> {
  if (apiKey === undefined) return {}
  return authentication === 'api-key'
    ? { 'api-key': apiKey }
    : { authorization: `Bearer ${apiKey}` }
}
