/**
 * Fetches from, or posts to, URLs that a customer or an upstream supplies. Such a URL may point at hosts that
 * only this machine can reach: itself, its neighbours, the cloud's metadata service (SSRF). So names are
 * resolved here, every address is checked, and the connection goes to the checked addresses only: a name that
 * resolves differently a moment later gains nothing.
 */
import { lookup as resolveName } from 'node:dns/promises'
import { request as requestHttp, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { isPublicAddress } from './public-address.ts'
import { isOpenPort } from './public-host.ts'
import { resolveGivenName, type ResolvedAddress } from './resolve-given-name.ts'
import type { TakeBytes } from './take-bytes.ts'

export interface GuardedFetchOptions {
  /** Limit of the body, in bytes as transferred. */
  readonly bytesMax: number
  /** Counts bytes of the body before they are kept; ends the call with `no_room` if it returns false. */
  readonly takeBytes?: TakeBytes | undefined
  /** Limit of the whole call: name resolution, redirects, and the body to its end. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /** Also allow this machine and private networks. */
  readonly allowPrivate?: boolean
  /** Resolves names; by default the name servers are asked, and with `allowPrivate` the system's resolver. */
  readonly lookup?: Lookup
}

export type Lookup = (hostname: string, signal?: AbortSignal) => Promise<readonly ResolvedAddress[]>

export interface GuardedFetched {
  /** The status of the last answer, also of an error: only redirects are followed. */
  readonly status: number
  /** In lower case and without parameters. */
  readonly mediaType: string
  readonly body: Buffer
}

export interface GuardedPostOptions extends GuardedFetchOptions {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Limit of the answer's body, in bytes as transferred; the rest is not read. */
  readonly bytesMax: number
  /** How long the answer's body is read after its head arrived. */
  readonly bodyTimeoutMs: number
}

export interface GuardedPosted {
  /** The status of the first answer: redirects are not followed. */
  readonly status: number
  readonly retryAfter: string | undefined
  /** The part of the answer's body that arrived within the limits; may be empty. */
  readonly head: Buffer
}

export type GuardedFetchReason =
  | 'refused_address'
  | 'bad_url'
  | 'too_large'
  | 'no_room'
  | 'timeout'
  | 'failed'
  | 'too_many_redirects'

/** The message names only the host of a URL: paths and queries can hold secrets. */
export class GuardedFetchError extends Error {
  readonly reason: GuardedFetchReason
  /** The system's code of a failed connection, as in `ECONNREFUSED`. */
  readonly code: string | undefined
  constructor(reason: GuardedFetchReason, message: string, code?: string) {
    super(message)
    this.name = 'GuardedFetchError'
    this.reason = reason
    this.code = code
  }
}

const REDIRECTS_MAX = 3
const REDIRECTS = new Set([301, 302, 303, 307, 308])
const MEDIA_TYPE_UNKNOWN = 'application/octet-stream'

/**
 * GETs a public http or https URL. Follows at most 3 redirects, and asks for no compression, so that `bytesMax`
 * limits the decoded body. Throws a `GuardedFetchError`; after an abort, the signal's reason.
 */
export async function guardedFetch(
  url: string,
  options: GuardedFetchOptions,
): Promise<GuardedFetched> {
  return withinTime(options, (signal) => follow(url, options, signal))
}

/**
 * POSTs to a public URL. The status is valid as soon as the head of the answer has arrived, even if the body fails.
 * Throws like `guardedFetch`.
 */
export async function guardedPost(
  url: string,
  options: GuardedPostOptions,
): Promise<GuardedPosted> {
  return withinTime(options, async (signal) => {
    const target = parseUrl(url, undefined)
    const addresses = await orAborted(checkedAddresses(target, options, signal), signal)
    const response = await open(target, addresses, signal, options)
    return {
      status: response.statusCode as number,
      retryAfter: response.headers['retry-after'],
      head: await readHead(response, options),
    }
  })
}

/** Whether any address of the host is not public. False for an unknown host, which has no address. */
export async function isPrivateHost(
  hostname: string,
  lookup: Lookup = resolveAll,
): Promise<boolean> {
  if (isLocalName(hostname)) return true
  const addresses = await resolve(hostname, lookup).catch(() => [])
  return addresses.some(({ address }) => !isPublicAddress(address))
}

async function withinTime<Result>(
  options: GuardedFetchOptions,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const timeout = new AbortController()
  const timer = setTimeout(() => timeout.abort(), options.timeoutMs)
  const signals = options.signal ? [options.signal, timeout.signal] : [timeout.signal]
  try {
    return await work(AbortSignal.any(signals))
  } catch (error) {
    if (options.signal?.aborted) throw options.signal.reason
    if (timeout.signal.aborted) {
      throw new GuardedFetchError('timeout', `no complete answer within ${options.timeoutMs} ms`)
    }
    throw error
  } finally {
    clearTimeout(timer)
  }
}

async function follow(
  first: string,
  options: GuardedFetchOptions,
  signal: AbortSignal,
): Promise<GuardedFetched> {
  let url = parseUrl(first, undefined)
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
    const addresses = await orAborted(checkedAddresses(url, options, signal), signal)
    const response = await open(url, addresses, signal)
    const { location } = response.headers
    if (location === undefined || !REDIRECTS.has(response.statusCode as number)) {
      return readAll(response, options)
    }
    response.destroy()
    url = parseUrl(location, url)
  }
  throw new GuardedFetchError('too_many_redirects', `more than ${REDIRECTS_MAX} redirects`)
}

function parseUrl(text: string, base: URL | undefined): URL {
  // The parser's error contains the whole URL, so it is not passed on.
  const url = URL.parse(text, base?.href)
  if (url === null) throw new GuardedFetchError('bad_url', 'the address cannot be read')
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new GuardedFetchError('bad_url', 'only http and https addresses are fetched')
  }
  if (url.username !== '' || url.password !== '') {
    throw new GuardedFetchError('bad_url', 'the address holds credentials')
  }
  return url
}

async function checkedAddresses(
  url: URL,
  {
    allowPrivate = false,
    lookup = allowPrivate ? resolveAll : resolveGivenName,
  }: GuardedFetchOptions,
  signal: AbortSignal,
): Promise<readonly ResolvedAddress[]> {
  // A redirect may name another port than the address that the customer was allowed.
  if (!allowPrivate && (isLocalName(url.hostname) || !isOpenPort(url.port)))
    throw refusedAddress(url)
  const addresses = await resolve(url.hostname, lookup, signal).catch((error: unknown) => {
    throw failed(url, error)
  })
  if (addresses.length === 0) throw failed(url, undefined)
  // One private address among public ones is enough to refuse: the connection may take any of them.
  if (!allowPrivate && !addresses.every(({ address }) => isPublicAddress(address))) {
    throw refusedAddress(url)
  }
  return addresses
}

async function resolve(
  hostname: string,
  lookup: Lookup,
  signal?: AbortSignal,
): Promise<readonly ResolvedAddress[]> {
  const address = bareHost(hostname)
  return isIP(address) ? [{ address }] : lookup(hostname, signal)
}

async function resolveAll(hostname: string): Promise<readonly ResolvedAddress[]> {
  return resolveName(hostname, { all: true })
}

function isLocalName(hostname: string): boolean {
  return /^(?:.+\.)?localhost\.?$/i.test(hostname)
}

function open(
  url: URL,
  addresses: readonly ResolvedAddress[],
  signal: AbortSignal,
  posted?: Pick<GuardedPostOptions, 'headers' | 'body'>,
): Promise<IncomingMessage> {
  const options: RequestOptions = {
    method: posted ? 'POST' : 'GET',
    // Connections are not shared: a connection that other code opened passed that code's checks, not these.
    agent: false,
    hostname: bareHost(url.hostname),
    port: url.port,
    path: url.pathname + url.search,
    headers: {
      accept: '*/*',
      'accept-encoding': 'identity',
      'user-agent': 'catraca',
      ...posted?.headers,
      ...(posted ? { 'content-length': Buffer.byteLength(posted.body) } : {}),
    },
    lookup: pinnedTo(addresses),
    signal,
  }
  return new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? requestHttps(options) : requestHttp(options)
    request.on('response', resolve)
    request.on('error', (error) => reject(failed(url, error)))
    // An answer that changes the protocol (101) ends the request without a response and without an error.
    request.on('close', () => reject(failed(url, undefined)))
    request.end(posted?.body)
  })
}

/** Replaces the resolver, so that TLS and the host header still use the name. */
function pinnedTo(addresses: readonly ResolvedAddress[]): LookupFunction {
  const all = addresses.map(({ address }) => ({ address, family: isIP(address) }))
  return (_hostname, options, callback) => {
    const [first] = all
    if (options.all) callback(null, all)
    else callback(null, first?.address ?? '', first?.family)
  }
}

async function readAll(
  response: IncomingMessage,
  { bytesMax, takeBytes }: GuardedFetchOptions,
): Promise<GuardedFetched> {
  const { headers, statusCode } = response
  const encoding = headers['content-encoding'] ?? 'identity'
  const chunks: Buffer[] = []
  let bytes = Number(headers['content-length'] ?? 0)
  try {
    if (encoding !== 'identity') throw new GuardedFetchError('failed', 'the answer is compressed')
    if (bytes > bytesMax) throw tooLarge(bytesMax)
    bytes = 0
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > bytesMax) throw tooLarge(bytesMax)
      if ((await takeBytes?.(chunk.length)) === false)
        throw new GuardedFetchError('no_room', 'there is no room for more bytes')
      chunks.push(chunk)
    }
  } catch (error) {
    response.destroy()
    throw error instanceof GuardedFetchError
      ? error
      : new GuardedFetchError('failed', `the answer broke off${suffixOf(error)}`)
  }
  return {
    status: statusCode as number,
    mediaType: mediaTypeOf(headers['content-type']),
    body: Buffer.concat(chunks),
  }
}

/** A failure after the head does not change the outcome: the bytes received until then are the result. */
async function readHead(
  response: IncomingMessage,
  { bytesMax, bodyTimeoutMs }: GuardedPostOptions,
): Promise<Buffer> {
  const isPlain = (response.headers['content-encoding'] ?? 'identity') === 'identity'
  const chunks: Buffer[] = []
  let bytes = 0
  const timer = setTimeout(() => response.destroy(), bodyTimeoutMs)
  try {
    for await (const chunk of isPlain ? (response as AsyncIterable<Buffer>) : []) {
      bytes += chunk.length
      chunks.push(chunk)
      if (bytes >= bytesMax) break
    }
  } catch {
    // The connection broke off, or the time limit passed.
  } finally {
    clearTimeout(timer)
    response.on('error', () => {})
    response.destroy()
  }
  return Buffer.concat(chunks).subarray(0, bytesMax)
}

function mediaTypeOf(contentType: string | undefined): string {
  const [essence = ''] = (contentType ?? '').split(';')
  return essence.trim().toLowerCase() || MEDIA_TYPE_UNKNOWN
}

/** For work that takes no signal: after an abort it continues, and its result is ignored. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

function bareHost(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}

function refusedAddress(url: URL): GuardedFetchError {
  return new GuardedFetchError('refused_address', `${url.host} is not a public address`)
}

function tooLarge(bytesMax: number): GuardedFetchError {
  return new GuardedFetchError('too_large', `more than ${bytesMax} bytes`)
}

function failed(url: URL, error: unknown): GuardedFetchError {
  const message = `${url.hostname} gave no answer${suffixOf(error)}`
  return new GuardedFetchError('failed', message, codeOf(error))
}

function codeOf(error: unknown): string | undefined {
  return ((error ?? {}) as { code?: string }).code
}

function suffixOf(error: unknown): string {
  const code = codeOf(error)
  return code === undefined ? '' : `: ${code}`
}
