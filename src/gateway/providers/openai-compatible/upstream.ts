/** The connections, headers and paths that all calls to one upstream share. */
import type { Socket } from 'node:net'
import { Agent, Pool, buildConnector } from 'undici'
import { lookupPublic } from '../../../platform/lib/guarded-fetch.ts'
import { isPublicHost } from '../../../platform/lib/public-address.ts'
import { openOrigin, type Origin } from '../http1/open-origin.ts'
import type { SilenceLimits } from '../watch-silence.ts'

/** How long a failed write waits for an answer that may already be arriving; the end of a closed connection arrives at once. */
const READ_MS_MAX = 1_000

type Written = (error?: Error | null) => void

/**
 * Connections for requests that upstreams may refuse before reading all of them. Such an upstream answers and closes
 * the connection, so the next write fails, and Node would destroy the socket with the answer unread. Here a failed
 * write is reported only after reading has ended.
 */
function connectForUploads(options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector(options)
  return (target, callback) => {
    connect(target, (...connected) => {
      const [, socket] = connected
      if (socket) readBeforeFailing(socket)
      callback(...connected)
    })
  }
}

// Overrides `_write` and `_writev`, which report the result of a write, and not `write`, which does not.
/* oxlint-disable no-underscore-dangle */
function readBeforeFailing(socket: Socket): void {
  const write = socket._write.bind(socket)
  const writeAll = socket._writev?.bind(socket)
  socket._write = (chunk, encoding, done) => write(chunk, encoding, failingLate(done))
  if (writeAll) socket._writev = (chunks, done) => writeAll(chunks, failingLate(done))
}
/* oxlint-enable no-underscore-dangle */

/** Delays the error of a write to a closed connection: when reading ends, the socket closes and ends the write. */
function failingLate(done: Written): Written {
  return (error) => {
    if (isClosedByPeer(error)) setTimeout(done, READ_MS_MAX, error).unref()
    else done(error)
  }
}

function isClosedByPeer(error: NodeJS.ErrnoException | null | undefined): boolean {
  return error?.code === 'ECONNRESET' || error?.code === 'EPIPE'
}

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
  /** The address is not of the operator's file: no connection leads into a private network. Default: false. */
  readonly isPublicOnly?: boolean | undefined
}

export interface Upstream {
  /** For bodies that are a text. */
  readonly origin: Origin
  /** For bodies that are read while they are sent. */
  readonly uploads: Pool
  /** For public addresses that an answer names, which get no key. */
  readonly elsewhere: Agent
  readonly silence: SilenceLimits
  /** The protocol, host and port. */
  readonly address: string
  readonly hostname: string
  readonly isPublicOnly: boolean
  /** The headers of a call with a JSON body. */
  readonly headers: Readonly<Record<string, string>>
  /** The full path and query for an endpoint, which starts with a slash. */
  readonly path: (endpoint: string) => string
  /** Closes all connections; running calls fail. */
  readonly close: () => Promise<void>
}

const KEEP_ALIVE_MS = 30_000

export function openUpstream(options: UpstreamOptions): Upstream {
  const { isPublicOnly = false } = options
  const url = new URL(options.baseUrl)
  if (isPublicOnly && !isPublicHost(url.hostname))
    throw new TypeError(`${url.hostname} is not public`)
  const lookup = isPublicOnly ? lookupPublic : undefined
  const base = url.pathname.replace(/\/$/, '')
  const query = new URLSearchParams(options.query).toString()
  const origin = openOrigin(url, {
    connectTimeoutMs: options.connectTimeoutMs,
    headTimeoutMs: options.firstByteTimeoutMs,
    connectionsMax: options.connectionsMax,
    keepAliveMs: KEEP_ALIVE_MS,
    lookup,
  })
  const uploads = new Pool(url.origin, {
    connections: options.connectionsMax,
    pipelining: 1,
    headersTimeout: options.firstByteTimeoutMs,
    // `watchSilence` limits the silence within a body, because the limit changes with its first byte.
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: connectForUploads({
      timeout: options.connectTimeoutMs,
      ...(lookup && { lookup }),
    }),
  })
  const elsewhere = new Agent({
    headersTimeout: options.firstByteTimeoutMs,
    connect: { timeout: options.connectTimeoutMs, lookup: lookupPublic },
  })
  return {
    origin,
    uploads,
    elsewhere,
    silence: { firstByteMs: options.firstByteTimeoutMs, idleMs: options.idleTimeoutMs },
    address: url.origin,
    hostname: url.hostname,
    isPublicOnly,
    headers: requestHeaders(options),
    path: (endpoint) => `${base}${endpoint}${query === '' ? '' : `?${query}`}`,
    async close() {
      origin.destroy()
      await Promise.all([uploads.destroy(), elsewhere.destroy()])
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
