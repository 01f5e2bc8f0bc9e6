/**
 * Fetches from, or posts to, URLs that a customer or an upstream supplies. Such a URL may point at hosts that
 * only this machine can reach: itself, its neighbours, the cloud's metadata service (SSRF). So names are
 * resolved here, every address is checked, and the connection goes to the checked addresses only: a name that
 * resolves differently a moment later gains nothing.
 */
import { lookup as resolveName } from 'node:dns/promises'
import { validateHeaderName, validateHeaderValue } from 'node:http'
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { BlockJoiner } from './block-joiner.ts'
import { isPublicAddress, isOpenPort } from './public-address.ts'
import { resolveGivenName, type ResolvedAddress } from './resolve-given-name.ts'
import { ResponseReader, type ResponseHeaders } from './response-reader.ts'

export interface GuardedFetchOptions {
  /** Limit of the body, in bytes as transferred. */
  readonly bytesMax: number
  /** Counts bytes of the body before they are kept; ends the call with `no_room` if it returns false. */
  readonly takeBytes?: ((bytes: number) => boolean | Promise<boolean>) | undefined
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

/** Thrown when a request fails. The message names only the host of a URL: paths and queries can hold secrets. */
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
const LOOKUP_MS_MAX = 10_000
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
    const kept = new KeptBody()
    let head: Head | undefined
    let timer: NodeJS.Timeout | undefined
    const bodySignal = new AbortController()
    const taken = exchange(target, addresses, AbortSignal.any([signal, bodySignal.signal]), {
      posted: options,
      begin(begun) {
        head = begun
        timer = setTimeout(() => bodySignal.abort(), options.bodyTimeoutMs)
        if (oneOf(begun.headers, 'content-encoding', 'identity') !== 'identity') return undefined
        return (part) => kept.add(part) >= options.bytesMax
      },
    })
    // A failure after the head does not change the outcome: the bytes until then are the result.
    await taken.catch((error: unknown) => {
      if (!head) throw error
    })
    clearTimeout(timer)
    const { status, headers } = head as Head
    const retryAfter = oneOf(headers, 'retry-after')
    return { status, retryAfter, head: kept.whole().subarray(0, options.bytesMax) }
  })
}

/**
 * The resolver of connections that others open to a host that is not trusted: the connection goes to the addresses that
 * were checked here, each time anew. An address in place of a name is never resolved, so it is for its owner to check.
 */
export const lookupPublic: LookupFunction = (hostname, options, callback) => {
  const url = new URL('https://host')
  url.hostname = hostname
  checkedAddresses(url, {}, AbortSignal.timeout(LOOKUP_MS_MAX)).then(
    (addresses) => pinnedTo(addresses)(hostname, options, callback),
    (error: Error) => callback(error, ''),
  )
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
    const kept = new KeptBody()
    let location: string | undefined
    const { status, headers } = await exchange(url, addresses, signal, {
      begin(head) {
        location = REDIRECTS.has(head.status) ? oneOf(head.headers, 'location') : undefined
        return location === undefined ? keepWithin(options, head, kept) : undefined
      },
    })
    if (location === undefined)
      return { status, mediaType: mediaTypeOf(oneOf(headers, 'content-type')), body: kept.whole() }
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
  }: Pick<GuardedFetchOptions, 'allowPrivate' | 'lookup'>,
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

interface Head {
  readonly status: number
  readonly headers: ResponseHeaders
}

/** Takes the blocks of a body, each when the one before was taken; true: the rest is not read. */
type TakeBlock = (block: Buffer) => boolean | Promise<boolean>

interface Exchanged {
  readonly posted?: Pick<GuardedPostOptions, 'headers' | 'body'>
  /** Called with the head of the answer; without a result the body is not read. */
  readonly begin: (head: Head) => TakeBlock | undefined
}

/**
 * Sends one request on a connection of its own, which passed the checks here, and reads the answer. The platform's client
 * makes a buffer of each chunk: 200 answers in chunks of one byte took 12 s of the processor, in this way half a second.
 */
function exchange(
  url: URL,
  addresses: readonly ResolvedAddress[],
  signal: AbortSignal,
  { posted, begin }: Exchanged,
): Promise<Head> {
  const text = requestOf(url, posted)
  return new Promise((resolve, reject) => {
    const socket = openSocket(url, addresses)
    const joiner = new BlockJoiner()
    let blocks: Buffer[] = []
    let head: Head | undefined
    let take: TakeBlock | undefined
    let hasEnded = false
    const reader = new ResponseReader({
      head(status, headers) {
        head = { status, headers }
        take = begin(head)
        if (!take) end()
      },
      data: (part) => joiner.add(part, (block) => blocks.push(block)),
      end,
    })
    function end(): void {
      hasEnded = true
      reader.stop()
    }
    /** What one read brought; the next one waits. */
    async function read(work: () => void): Promise<void> {
      socket.pause()
      work()
      joiner.flush((block) => blocks.push(block))
      const taken = blocks
      blocks = []
      for (const block of taken) if (await take?.(block)) end()
      if (hasEnded) finish(undefined, true)
      else socket.resume()
    }
    function finish(error?: unknown, isWhole = false): void {
      signal.removeEventListener('abort', abort)
      socket.destroy()
      if (isWhole) resolve(head as Head)
      else reject(error instanceof GuardedFetchError ? error : failed(url, error))
    }
    const abort = (): void => finish()
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) return abort()
    socket.on('data', (bytes: Buffer) => void read(() => reader.push(bytes)).catch(finish))
    socket.on('end', () => void read(() => reader.close()).catch(finish))
    socket.on('error', finish)
    socket.on('close', () => finish())
    reader.expect()
    socket.write(text)
  })
}

function openSocket(url: URL, addresses: readonly ResolvedAddress[]): Socket {
  const host = bareHost(url.hostname)
  const lookup = pinnedTo(addresses)
  if (url.protocol === 'http:') return connect({ host, port: Number(url.port || 80), lookup })
  return connectTls({
    host,
    port: Number(url.port || 443),
    lookup,
    servername: isIP(host) === 0 ? host : '',
    ALPNProtocols: ['http/1.1'],
  })
}

/** Throws a `TypeError` if a header could begin another line. */
function requestOf(url: URL, posted: Exchanged['posted']): string {
  const headers: Record<string, string> = {
    host: url.host,
    connection: 'close',
    accept: '*/*',
    'accept-encoding': 'identity',
    'user-agent': 'catraca',
    ...posted?.headers,
    ...(posted ? { 'content-length': `${Buffer.byteLength(posted.body)}` } : {}),
  }
  const lines = Object.entries(headers).map(([name, value]) => {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return `${name}: ${value}\r\n`
  })
  const line = `${posted ? 'POST' : 'GET'} ${url.pathname}${url.search} HTTP/1.1\r\n`
  return `${line}${lines.join('')}\r\n${posted?.body ?? ''}`
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

/** Throws if the body cannot be kept. */
function keepWithin(
  { bytesMax, takeBytes }: GuardedFetchOptions,
  { headers }: Head,
  kept: KeptBody,
): TakeBlock {
  if (oneOf(headers, 'content-encoding', 'identity') !== 'identity')
    throw new GuardedFetchError('failed', 'the answer is compressed')
  if (Number(headers['content-length'] ?? 0) > bytesMax) throw tooLarge(bytesMax)
  return async (block) => {
    if (kept.bytes + block.length > bytesMax) throw tooLarge(bytesMax)
    if ((await takeBytes?.(block.length)) === false)
      throw new GuardedFetchError('no_room', 'there is no room for more bytes')
    kept.add(block)
    return false
  }
}

class KeptBody {
  readonly #joiner = new BlockJoiner()
  readonly #blocks: Buffer[] = []
  readonly #keep = (block: Buffer): void => void this.#blocks.push(block)
  bytes = 0

  /** Returns the bytes so far. */
  add(part: Buffer): number {
    this.#joiner.add(part, this.#keep)
    return (this.bytes += part.length)
  }

  whole(): Buffer {
    this.#joiner.flush(this.#keep)
    return Buffer.concat(this.#blocks, this.bytes)
  }
}

/** The first value of a header. */
function oneOf(headers: ResponseHeaders, name: string): string | undefined
function oneOf(headers: ResponseHeaders, name: string, otherwise: string): string
function oneOf(headers: ResponseHeaders, name: string, otherwise?: string): string | undefined {
  const value = headers[name]
  return (typeof value === 'string' ? value : value?.[0]) ?? otherwise
}

function mediaTypeOf(contentType: string | undefined): string {
  const [essence = ''] = (contentType ?? '').split(';')
  return essence.trim().toLowerCase() || MEDIA_TYPE_UNKNOWN
}

/** Waits for work that takes no signal, until the abort: the work continues, and its result is ignored. */
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
