/**
 * Fetches from, or posts to, what a customer or an upstream names by its address. Such an address may point at what only
 * this machine can reach: itself, its neighbours, the cloud's metadata. So names are resolved here,
 * every address is checked, and the connection goes to the checked addresses and to no others: a name
 * that resolves differently a moment later gains nothing.
 */
import { lookup as resolveName } from 'node:dns/promises'
import { request as requestHttp, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { isPublicAddress } from './public-address.ts'

export interface GuardedFetchOptions {
  /** Of the body, as it comes over the wire. */
  readonly bytesMax: number
  /** For the whole call: names, redirects, and the body to its end. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /** Also goes to this machine and to private networks. */
  readonly allowPrivate?: boolean
  /** What resolves names; the system's resolver if not given. */
  readonly lookup?: Lookup
}

export type Lookup = (hostname: string) => Promise<readonly ResolvedAddress[]>

export interface ResolvedAddress {
  readonly address: string
}

export interface GuardedFetched {
  /** Of the last answer, whatever it is: only redirects are followed. */
  readonly status: number
  /** In lower case and without parameters. */
  readonly mediaType: string
  readonly body: Buffer
}

export interface GuardedPostOptions extends GuardedFetchOptions {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Of what is answered, as it comes over the wire: what is beyond is not read. */
  readonly bytesMax: number
  /** How long what is answered is read, once its head is there. */
  readonly bodyTimeoutMs: number
}

export interface GuardedPosted {
  /** Of the first answer: redirects are not followed. */
  readonly status: number
  readonly retryAfter: string | undefined
  /** Of the answer's body what came within the bounds, which may be nothing. */
  readonly head: Buffer
}

export type GuardedFetchReason =
  | 'refused_address'
  | 'bad_url'
  | 'too_large'
  | 'timeout'
  | 'failed'
  | 'too_many_redirects'

/** Its message names no more of an address than the host: paths and queries can hold secrets. */
export class GuardedFetchError extends Error {
  readonly reason: GuardedFetchReason
  /** The system's own word for a connection that failed, as in `ECONNREFUSED`. */
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
 * GET, over http or https, of a public address. Follows at most 3 redirects, and asks for no
 * compression, so that `bytesMax` is what the body takes. Throws `GuardedFetchError`; after an abort,
 * the signal's reason.
 */
export async function guardedFetch(
  url: string,
  options: GuardedFetchOptions,
): Promise<GuardedFetched> {
  return withinTime(options, (signal) => follow(url, options, signal))
}

/**
 * POST to a public address. The answer stands as soon as its head is there, however its body goes on. Throws
 * like `guardedFetch`.
 */
export async function guardedPost(
  url: string,
  options: GuardedPostOptions,
): Promise<GuardedPosted> {
  return withinTime(options, async (signal) => {
    const target = parseUrl(url, undefined)
    const addresses = await orAborted(checkedAddresses(target, options), signal)
    const response = await open(target, addresses, signal, options)
    return {
      status: response.statusCode as number,
      retryAfter: response.headers['retry-after'],
      head: await readHead(response, options),
    }
  })
}

/** Whether a host is, or has among its addresses, one that is not public. An unknown host has none. */
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
      throw new GuardedFetchError('timeout', `no whole answer within ${options.timeoutMs} ms`)
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
    const addresses = await orAborted(checkedAddresses(url, options), signal)
    const response = await open(url, addresses, signal)
    const { location } = response.headers
    if (location === undefined || !REDIRECTS.has(response.statusCode as number)) {
      return readAll(response, options.bytesMax)
    }
    response.destroy()
    url = parseUrl(location, url)
  }
  throw new GuardedFetchError('too_many_redirects', `more than ${REDIRECTS_MAX} redirects`)
}

function parseUrl(text: string, base: URL | undefined): URL {
  // What the parser throws holds the whole address, so it goes no further.
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
  { allowPrivate = false, lookup = resolveAll }: GuardedFetchOptions,
): Promise<readonly ResolvedAddress[]> {
  if (!allowPrivate && isLocalName(url.hostname)) throw refusedAddress(url)
  const addresses = await resolve(url.hostname, lookup).catch((error: unknown) => {
    throw failed(url, error)
  })
  if (addresses.length === 0) throw failed(url, undefined)
  // One bad address among good ones is enough: which one a connection would take is not ours to say.
  if (!allowPrivate && !addresses.every(({ address }) => isPublicAddress(address))) {
    throw refusedAddress(url)
  }
  return addresses
}

async function resolve(hostname: string, lookup: Lookup): Promise<readonly ResolvedAddress[]> {
  const address = bareHost(hostname)
  return isIP(address) ? [{ address }] : lookup(hostname)
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
    // Connections are not shared: one that others opened went through their checks, not these.
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
    request.end(posted?.body)
  })
}

/** Stands in for the resolver, so that the name stays what TLS and the host header speak of. */
function pinnedTo(addresses: readonly ResolvedAddress[]): LookupFunction {
  const all = addresses.map(({ address }) => ({ address, family: isIP(address) }))
  return (_hostname, options, callback) => {
    const [first] = all
    if (options.all) callback(null, all)
    else callback(null, first?.address ?? '', first?.family)
  }
}

async function readAll(response: IncomingMessage, bytesMax: number): Promise<GuardedFetched> {
  const { headers, statusCode } = response
  const encoding = headers['content-encoding'] ?? 'identity'
  const chunks: Buffer[] = []
  let bytes = Number(headers['content-length'] ?? 0)
  try {
    if (encoding !== 'identity') throw new GuardedFetchError('failed', 'a compressed answer came')
    if (bytes > bytesMax) throw tooLarge(bytesMax)
    bytes = 0
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > bytesMax) throw tooLarge(bytesMax)
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

/** What goes wrong after the head is the other side's business: what came until then is what there is. */
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
    // Broken off, or out of time.
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

/** For work that knows no signal; the work goes on, unheard. */
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
  return new GuardedFetchError('refused_address', `${url.hostname} is not a public address`)
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
