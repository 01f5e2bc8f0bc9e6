/**
 * One request to Asaas: time limits, size limits, retries, and the meaning of failed requests. Texts from an answer
 * pass through `scrub`, so that no card data they repeat gets into a log.
 */
import { Pool, type Dispatcher } from 'undici'
import type { IncomingHttpHeaders } from 'undici/types/header.js'
import { isObject } from '../../../platform/lib/is-object.ts'
import { parseExactJson } from '../../../platform/lib/exact-json.ts'
import type { Unavailable } from '../processor.ts'

/** Asaas blocks a client that continues after a 429 for longer, so no endpoint is called before its limit has reset. */
interface RateGate {
  /** Seconds until the endpoint may be called; undefined if it may be called now. */
  secondsLeft(endpoint: string): number | undefined
  /** Reads an answer's headers. Returns the seconds until the next call is allowed, if the limit is used up. */
  note(endpoint: string, status: number, headers: IncomingHttpHeaders): number | undefined
}

/** The pause after a 429 that names no time. */
const SECONDS_DEFAULT = 5
/** A wrong header must not stop top-ups for a day: after this time the next call is sent. */
const SECONDS_MAX = 300

export function createRateGate(now: () => number = () => Date.now()): RateGate {
  const freeAt = new Map<string, number>()
  return {
    secondsLeft(endpoint) {
      const left = (freeAt.get(endpoint) ?? 0) - now()
      if (left > 0) return Math.ceil(left / 1000)
      freeAt.delete(endpoint)
      return undefined
    },
    note(endpoint, status, headers) {
      const seconds = secondsOf(headers['retry-after']) ?? secondsOf(headers['ratelimit-reset'])
      const isUsedUp = secondsOf(headers['ratelimit-remaining']) === 0 && seconds !== undefined
      if (status !== 429 && !isUsedUp) return undefined
      const pause = Math.min(seconds ?? SECONDS_DEFAULT, SECONDS_MAX)
      freeAt.set(endpoint, now() + pause * 1000)
      return seconds ?? SECONDS_DEFAULT
    },
  }
}

function secondsOf(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d{1,12}$/.test(header) ? Number(header) : undefined
}

export interface CallOptions {
  /** Includes the version segment: `https://api.asaas.com/v3`. */
  readonly baseUrl: string
  readonly apiKey: string
  readonly connectTimeoutMs: number
  /** For the whole exchange, up to the last byte of the answer. */
  readonly answerTimeoutMs: number
  /** The same for requests that reach the card's issuer; Asaas recommends a minute. */
  readonly cardTimeoutMs: number
  /** Waits that many milliseconds before a retry. */
  readonly wait: (ms: number) => Promise<unknown>
}

export interface AsaasRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Relative to the base URL, and already percent-encoded. */
  readonly path: string
  /** The method and the path without its ids; rate limits count by it. */
  readonly endpoint: string
  readonly body?: object
  readonly reachesIssuer?: boolean
  /** Texts to remove from the answer, in case Asaas repeats them. */
  readonly secrets?: readonly string[]
}

export interface AsaasError {
  readonly code: string
  /** In Portuguese, and scrubbed. */
  readonly description: string
}

export type Answer =
  | { readonly kind: 'ok'; readonly body: JsonObject }
  /** Asaas read the request and refused it; it did nothing. */
  | { readonly kind: 'refused'; readonly status: number; readonly errors: readonly AsaasError[] }
  | Unavailable

export interface JsonObject {
  readonly [name: string]: unknown
}

export interface CallAsaas {
  (request: AsaasRequest): Promise<Answer>
  close(): Promise<void>
}

/** A list of a hundred payments takes 200 KB. */
const ANSWER_BYTES_MAX = 4 * 1024 * 1024
/** Asaas allows 50 reads at a time. */
const CONNECTIONS_MAX = 20
const TRIES = 3
const RETRY_MS = 250
/** The longest wait within a call; if Asaas asks for more, the caller decides. */
const RETRY_AFTER_SECONDS_MAX = 2
const DESCRIPTION_CHARACTERS_MAX = 300

type Attempt = Answer & { readonly isRetryable?: boolean }

export function createCallAsaas(options: CallOptions): CallAsaas {
  const url = new URL(options.baseUrl)
  const basePath = url.pathname.replace(/\/$/, '')
  const pool = new Pool(url.origin, {
    connections: CONNECTIONS_MAX,
    pipelining: 1,
    connect: { timeout: options.connectTimeoutMs },
  })
  const gate = createRateGate()

  async function tryOnce(request: AsaasRequest): Promise<Attempt> {
    const isWrite = request.method !== 'GET'
    const limited = gate.secondsLeft(request.endpoint)
    if (limited !== undefined) return rateLimited(limited)
    let status: number | undefined
    try {
      const timeoutMs = request.reachesIssuer ? options.cardTimeoutMs : options.answerTimeoutMs
      const answer = await pool.request({
        method: request.method,
        path: basePath + request.path,
        headers: headersOf(request, options.apiKey),
        body: request.body === undefined ? null : JSON.stringify(request.body),
        // The signal limits the whole exchange; the default timeouts would be too short for an issuer.
        headersTimeout: 0,
        bodyTimeout: 0,
        signal: AbortSignal.timeout(timeoutMs),
      })
      status = answer.statusCode
      return await readAnswer(answer, request, gate)
    } catch (error) {
      return readFailure(error, status, isWrite)
    }
  }

  async function call(request: AsaasRequest): Promise<Answer> {
    for (let left = TRIES - 1; ; left--) {
      const { isRetryable, ...answer } = await tryOnce(request)
      // A request that changes something is never repeated: only the caller can check whether it took effect.
      if (!isRetryable || request.method !== 'GET' || left === 0) return answer
      const afterMs = 1000 * (answer.kind === 'unavailable' ? (answer.retryAfterSeconds ?? 0) : 0)
      await options.wait(afterMs + RETRY_MS * (TRIES - left) * (1 + Math.random()))
    }
  }
  return Object.assign(call, { close: () => pool.destroy() })
}

function headersOf({ body }: AsaasRequest, apiKey: string): Record<string, string> {
  return {
    access_token: apiKey,
    accept: 'application/json',
    'user-agent': 'catraca',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
}

async function readAnswer(
  { statusCode: status, headers, body }: Dispatcher.ResponseData,
  { method, endpoint, secrets }: AsaasRequest,
  gate: RateGate,
): Promise<Attempt> {
  const isWrite = method !== 'GET'
  const text = await boundedText(body)
  const seconds = gate.note(endpoint, status, headers)
  if (status === 429) return rateLimited(seconds)
  const content = text === undefined ? undefined : contentOf(text)
  const errors = readErrors(content, secrets)
  if (status === 401 || status === 403) {
    const detail = `status ${status} ${errors.map(({ code }) => code).join(' ')}`.trimEnd()
    return { kind: 'unavailable', mayHaveHappened: false, detail }
  }
  if (status >= 200 && status < 300 && isObject(content) && errors.length === 0) {
    return { kind: 'ok', body: content }
  }
  // A 404 from a proxy differs only in its body, and must not be read as "not found".
  if (status >= 400 && status < 500 && isObject(content)) {
    if (errors.length > 0 || status === 404) return { kind: 'refused', status, errors }
  }
  const what = isObject(content) ? 'in JSON' : 'not a JSON object'
  const detail = `status ${status}, ${what}`
  return { kind: 'unavailable', mayHaveHappened: isWrite, detail, isRetryable: true }
}

function rateLimited(seconds: number | undefined): Attempt {
  return {
    kind: 'unavailable',
    mayHaveHappened: false,
    detail: 'status 429',
    ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }),
    isRetryable: seconds !== undefined && seconds <= RETRY_AFTER_SECONDS_MAX,
  }
}

/**
 * Returns the outcome of a request without a complete answer. `detail` has only the error's code or name: messages may
 * repeat the request.
 */
function readFailure(error: unknown, status: number | undefined, isWrite: boolean): Attempt {
  const { name, code } = error as { name?: string; code?: unknown }
  const hasTimedOut = name === 'TimeoutError'
  return {
    kind: 'unavailable',
    mayHaveHappened: isWrite && !isConnectFailure(code),
    detail: `${status === undefined ? 'no answer' : `status ${status}, broken off`}: ${typeof code === 'string' ? code : (name ?? 'error')}`,
    isRetryable: !hasTimedOut,
  }
}

/** Whether nothing was sent. A connection reset does not count: it may come after the request. */
function isConnectFailure(code: unknown): boolean {
  return (
    typeof code === 'string' &&
    [
      'ECONNREFUSED',
      'ENOTFOUND',
      'EAI_AGAIN',
      'EHOSTUNREACH',
      'ENETUNREACH',
      'UND_ERR_CONNECT_TIMEOUT',
    ].includes(code)
  )
}

/** Returns undefined if the body is longer than any answer of Asaas. */
async function boundedText(body: Dispatcher.ResponseData['body']): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > ANSWER_BYTES_MAX) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function contentOf(text: string): unknown {
  try {
    return parseExactJson(text)
  } catch {
    return undefined
  }
}

function readErrors(content: unknown, secrets: readonly string[] | undefined): AsaasError[] {
  if (!isObject(content) || !Array.isArray(content.errors)) return []
  return content.errors.filter(isObject).map(({ code, description }) => ({
    code: typeof code === 'string' && /^[A-Za-z][A-Za-z_.]{0,79}$/.test(code) ? code : 'unknown',
    description:
      typeof description === 'string'
        ? scrub(description, secrets).slice(0, DESCRIPTION_CHARACTERS_MAX)
        : 'sem descrição',
  }))
}

/**
 * Removes from a text all that must not get into logs and answers: card numbers and numbers that identify people, with
 * or without punctuation, e-mail addresses, API keys of Asaas, card tokens, and the given secrets.
 */
function scrub(text: string, secrets: readonly string[] = []): string {
  let clean = text
  for (const secret of secrets) {
    if (secret !== '') clean = clean.replaceAll(secret, '***')
  }
  return clean
    .replaceAll(/\$?aact_[\w$:=-]+/g, '***')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, '***')
    .replaceAll(/[^\s@<>()]+@[^\s@<>()]+/g, '***')
    .replaceAll(/\d(?:[ .\-/]?\d){9,}/g, '***')
}
