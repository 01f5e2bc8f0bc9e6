/**
 * Fetches what a customer or an upstream names by its address. Such an address may point at what only
 * this machine can reach: itself, its neighbours, the cloud's metadata. So names are resolved here,
 * every address is checked, and the connection goes to the checked addresses and to no others: a name
 * that resolves differently a moment later gains nothing.
 */
import { lookup as resolveName } from 'node:dns/promises'
import { request as requestHttp, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as requestHttps } from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'

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
  constructor(reason: GuardedFetchReason, message: string) {
    super(message)
    this.name = 'GuardedFetchError'
    this.reason = reason
  }
}

const REDIRECTS_MAX = 3
const REDIRECTS = new Set([301, 302, 303, 307, 308])
const MEDIA_TYPE_UNKNOWN = 'application/octet-stream'

/** Loopback, private, link-local, shared, benchmarking, documentation, multicast, reserved. */
const IPV4_REFUSED: readonly (readonly [network: string, prefix: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

/** Of IPv6 only what is named here is public: the rest is private, local, or not given out. */
const IPV6_ALLOWED: readonly (readonly [network: string, prefix: number])[] = [
  ['2000::', 3],
  // Networks without IPv4 reach all of it through addresses like these; what they hold is checked.
  ['64:ff9b::', 96],
  ['::ffff:0:0', 96],
]

/** Special blocks within the public ones: Teredo and its kind, documentation, 6to4. */
const IPV6_REFUSED: readonly (readonly [network: string, prefix: number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

const refused = new BlockList()
const allowedIpv6 = new BlockList()
for (const [network, prefix] of IPV4_REFUSED) {
  refused.addSubnet(network, prefix, 'ipv4')
  refused.addSubnet(`64:ff9b::${network}`, 96 + prefix, 'ipv6')
  refused.addSubnet(`::ffff:${network}`, 96 + prefix, 'ipv6')
}
for (const [network, prefix] of IPV6_REFUSED) refused.addSubnet(network, prefix, 'ipv6')
for (const [network, prefix] of IPV6_ALLOWED) allowedIpv6.addSubnet(network, prefix, 'ipv6')

/**
 * GET, over http or https, of a public address. Follows at most 3 redirects, and asks for no
 * compression, so that `bytesMax` is what the body takes. Throws `GuardedFetchError`; after an abort,
 * the signal's reason.
 */
export async function guardedFetch(
  url: string,
  options: GuardedFetchOptions,
): Promise<GuardedFetched> {
  const timeout = new AbortController()
  const timer = setTimeout(() => timeout.abort(), options.timeoutMs)
  const signals = options.signal ? [options.signal, timeout.signal] : [timeout.signal]
  try {
    return await follow(url, options, AbortSignal.any(signals))
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

/** Whether a host is, or has among its addresses, one that is not public. An unknown host has none. */
export async function isPrivateHost(
  hostname: string,
  lookup: Lookup = resolveAll,
): Promise<boolean> {
  if (isLocalName(hostname)) return true
  const addresses = await resolve(hostname, lookup).catch(() => [])
  return addresses.some(({ address }) => !isPublicAddress(address))
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

function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !refused.check(address, 'ipv4')
    case 6:
      // An address with a zone is one of this machine's own links.
      return (
        !address.includes('%') &&
        allowedIpv6.check(address, 'ipv6') &&
        !refused.check(address, 'ipv6')
      )
    default:
      return false
  }
}

function open(
  url: URL,
  addresses: readonly ResolvedAddress[],
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const options: RequestOptions = {
    // Connections are not shared: one that others opened went through their checks, not these.
    agent: false,
    hostname: bareHost(url.hostname),
    port: url.port,
    path: url.pathname + url.search,
    headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'catraca' },
    lookup: pinnedTo(addresses),
    signal,
  }
  return new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? requestHttps(options) : requestHttp(options)
    request.on('response', resolve)
    request.on('error', (error) => reject(failed(url, error)))
    request.end()
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
      : new GuardedFetchError('failed', `the answer broke off${codeOf(error)}`)
  }
  return {
    status: statusCode as number,
    mediaType: mediaTypeOf(headers['content-type']),
    body: Buffer.concat(chunks),
  }
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
  return new GuardedFetchError('failed', `${url.hostname} gave no answer${codeOf(error)}`)
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: string }
  return code === undefined ? '' : `: ${code}`
}
