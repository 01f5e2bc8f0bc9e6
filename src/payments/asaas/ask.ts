/**
 * One call to Asaas: times, sizes, what may be tried again, and what an answer that is none means. An
 * answer's own words come through `scrub`, so nothing that they repeat of a card gets into a log.
 */
import { Pool, type Dispatcher } from 'undici'
import { isObject } from '../../lib/is-object.ts'
import { parseExactJson } from '../../lib/exact-json.ts'
import type { Unavailable } from '../processor.ts'
import { createRateGate, type RateGate } from './rate-gate.ts'
import { scrub } from './scrub.ts'

export interface AskOptions {
  /** With its version segment: `https://api.asaas.com/v3`. */
  readonly baseUrl: string
  readonly apiKey: string
  readonly connectTimeoutMs: number
  /** For an answer from its first byte to its last. */
  readonly answerTimeoutMs: number
  /** The same where a card's issuer is asked, which Asaas wants to be given a minute. */
  readonly cardTimeoutMs: number
  /** Before another try, in milliseconds. */
  readonly wait: (ms: number) => Promise<unknown>
}

export interface Question {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Relative to the base, and encoded. */
  readonly path: string
  /** What rate limits are counted by: the path without its ids. */
  readonly endpoint: string
  readonly body?: object
  readonly asksIssuer?: boolean
  /** Taken out of what Asaas says, should it repeat them. */
  readonly secrets?: readonly string[]
}

export interface AsaasError {
  readonly code: string
  /** In Portuguese, and scrubbed. */
  readonly description: string
}

export type Answer =
  | { readonly kind: 'ok'; readonly body: JsonObject }
  /** Asaas looked at it and did nothing. */
  | { readonly kind: 'refused'; readonly status: number; readonly errors: readonly AsaasError[] }
  | Unavailable

export interface JsonObject {
  readonly [name: string]: unknown
}

export interface AskAsaas {
  (question: Question): Promise<Answer>
  close(): Promise<void>
}

/** A list of a hundred payments takes 200 KB. */
const ANSWER_BYTES_MAX = 4 * 1024 * 1024
/** Asaas allows 50 reads at a time. */
const CONNECTIONS_MAX = 20
const TRIES = 3
const RETRY_MS = 250
/** What may be waited for within a call; for more, the caller decides. */
const RETRY_AFTER_SECONDS_MAX = 2
const DESCRIPTION_CHARACTERS_MAX = 300

type Attempt = Answer & { readonly isWorthAnotherTry?: boolean }

export function createAsk(options: AskOptions): AskAsaas {
  const url = new URL(options.baseUrl)
  const basePath = url.pathname.replace(/\/$/, '')
  const pool = new Pool(url.origin, {
    connections: CONNECTIONS_MAX,
    pipelining: 1,
    connect: { timeout: options.connectTimeoutMs },
  })
  const gate = createRateGate()

  async function tryOnce(question: Question): Promise<Attempt> {
    const isWrite = question.method !== 'GET'
    const limited = gate.secondsLeft(question.endpoint)
    if (limited !== undefined) return rateLimited(limited)
    let status: number | undefined
    try {
      const timeoutMs = question.asksIssuer ? options.cardTimeoutMs : options.answerTimeoutMs
      const answer = await pool.request({
        method: question.method,
        path: basePath + question.path,
        headers: headersOf(question, options.apiKey),
        body: question.body === undefined ? null : JSON.stringify(question.body),
        // The signal holds for the whole of it; these two would be shorter for an issuer.
        headersTimeout: 0,
        bodyTimeout: 0,
        signal: AbortSignal.timeout(timeoutMs),
      })
      status = answer.statusCode
      return await readAnswer(answer, question, gate)
    } catch (error) {
      return readFailure(error, status, isWrite)
    }
  }

  async function ask(question: Question): Promise<Answer> {
    for (let left = TRIES - 1; ; left--) {
      const { isWorthAnotherTry, ...answer } = await tryOnce(question)
      // What changes something there is never sent twice: only the caller can look whether it came.
      if (!isWorthAnotherTry || question.method !== 'GET' || left === 0) return answer
      const afterMs = 1000 * (answer.kind === 'unavailable' ? (answer.retryAfterSeconds ?? 0) : 0)
      await options.wait(afterMs + RETRY_MS * (TRIES - left) * (1 + Math.random()))
    }
  }
  return Object.assign(ask, { close: () => pool.destroy() })
}

function headersOf({ body }: Question, apiKey: string): Record<string, string> {
  return {
    access_token: apiKey,
    accept: 'application/json',
    'user-agent': 'catraca',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
}

async function readAnswer(
  { statusCode: status, headers, body }: Dispatcher.ResponseData,
  { method, endpoint, secrets }: Question,
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
  // A 404 of a proxy looks the same but for its body, and must not pass for "there is no such thing".
  if (status >= 400 && status < 500 && isObject(content)) {
    if (errors.length > 0 || status === 404) return { kind: 'refused', status, errors }
  }
  const what = isObject(content) ? 'in JSON' : 'not a JSON object'
  const detail = `status ${status}, ${what}`
  return { kind: 'unavailable', mayHaveHappened: isWrite, detail, isWorthAnotherTry: true }
}

function rateLimited(seconds: number | undefined): Attempt {
  return {
    kind: 'unavailable',
    mayHaveHappened: false,
    detail: 'status 429',
    ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }),
    isWorthAnotherTry: seconds !== undefined && seconds <= RETRY_AFTER_SECONDS_MAX,
  }
}

/** Of a call without an answer, or with half of one. Only names: messages may repeat what was sent. */
function readFailure(error: unknown, status: number | undefined, isWrite: boolean): Attempt {
  const { name, code } = error as { name?: string; code?: unknown }
  const hasTimedOut = name === 'TimeoutError'
  return {
    kind: 'unavailable',
    mayHaveHappened: isWrite && !isConnectFailure(code),
    detail: `${status === undefined ? 'no answer' : `status ${status}, broken off`}: ${typeof code === 'string' ? code : (name ?? 'error')}`,
    isWorthAnotherTry: !hasTimedOut,
  }
}

/** Nothing was sent. A reset is not among these: it may come after the request. */
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

/** Undefined where it is longer than any answer of Asaas. */
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
