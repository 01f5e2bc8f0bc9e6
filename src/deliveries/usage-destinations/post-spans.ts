import { isObject } from '../../platform/lib/is-object.ts'
import { postToReceiver, type PostOptions } from '../receiver.ts'
import { tracesUrl, type DestinationKind } from './destination-access.ts'

/** Why a destination took nothing, in words of the API. */
export const DESTINATION_ERRORS = [
  'timeout',
  'refused_address',
  'https_required',
  'connection_failed',
  'redirect',
  'unauthorized',
  'not_found',
  'http_status',
  'spans_refused',
  'batch_refused',
  'batch_too_large',
  'secret_unreadable',
] as const
export type DestinationError = (typeof DESTINATION_ERRORS)[number]

export type PostOutcome = Taken | RefusedPost | FailedPost

interface Taken extends Answered {
  readonly kind: 'taken'
  /** Spans that the collector will never take. */
  readonly rejected: number
}

/** The body is to blame: the same one would be refused again. */
export interface RefusedPost extends Answered {
  readonly kind: 'refused' | 'too_large'
  readonly error: DestinationError
}

export interface FailedPost extends Answered {
  readonly kind: 'failed'
  readonly error: DestinationError
  readonly retryAfter: string | undefined
}

interface Answered {
  readonly latencyMs: number
  readonly httpStatus: number | null
  /** The beginning of the answer's text. */
  readonly answer: string | null
}

/** The answer to a batch is small; the rest of a larger one is not read. */
const ANSWER_BYTES_MAX = 16_384
const ANSWER_SHOWN_MAX = 500
/** Shorter words are no secrets, and would hide the rest. */
const SECRET_CHARACTERS_MIN = 8

/** A failure of the collector is an outcome. */
export async function postSpans(
  { kind, url }: { readonly kind: DestinationKind; readonly url: string },
  headers: Readonly<Record<string, string>>,
  body: string,
  options: PostOptions,
): Promise<PostOutcome> {
  const message = {
    headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'Catraca' },
    body,
    bytesMax: ANSWER_BYTES_MAX,
  }
  const { latencyMs, ...answer } = await postToReceiver(tracesUrl(kind, url), message, options)
  const httpStatus = answer.status
  if (httpStatus === null) {
    const error = answer.error === 'bad_url' ? 'connection_failed' : answer.error
    return { kind: 'failed', error, retryAfter: undefined, latencyMs, httpStatus, answer: null }
  }
  const text = answer.head.toString('utf8')
  const isTaken = httpStatus >= 200 && httpStatus < 300
  const said = isTaken ? (readPartial(text)?.message ?? '') : text
  return {
    latencyMs,
    httpStatus,
    answer: shown(withoutSecrets(said, headers)),
    ...readAnswer(httpStatus, text, answer.retryAfter),
  }
}

type Verdict =
  | Omit<Taken, keyof Answered>
  | Omit<RefusedPost, keyof Answered>
  | Omit<FailedPost, keyof Answered>

/** A key or an address that is wrong can be set right, so nothing is given up for it. */
const UNAUTHORIZED = new Set([401, 402, 403, 407])
const NOT_FOUND = new Set([404, 405, 410])
const TOO_EARLY = new Set([408, 409, 421, 425, 429])
const TOO_LARGE = 413

function readAnswer(status: number, text: string, retryAfter: string | undefined): Verdict {
  if (status >= 200 && status < 300)
    return { kind: 'taken', rejected: readPartial(text)?.rejected ?? 0 }
  if (status === TOO_LARGE) return { kind: 'too_large', error: 'batch_too_large' }
  const failed = (error: DestinationError): Verdict => ({ kind: 'failed', error, retryAfter })
  if (status >= 300 && status < 400) return failed('redirect')
  if (UNAUTHORIZED.has(status)) return failed('unauthorized')
  if (NOT_FOUND.has(status)) return failed('not_found')
  if (status < 200 || status >= 500 || TOO_EARLY.has(status)) return failed('http_status')
  return { kind: 'refused', error: 'batch_refused' }
}

/** Undefined for an answer that says nothing of rejected spans. */
function readPartial(text: string): { rejected: number; message: string } | undefined {
  try {
    const body: unknown = JSON.parse(text)
    if (!isObject(body) || !isObject(body.partialSuccess)) return undefined
    const { rejectedSpans, errorMessage } = body.partialSuccess
    // 64-bit numbers may be texts.
    const rejected = Number(rejectedSpans ?? 0)
    return {
      rejected: Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0,
      message: typeof errorMessage === 'string' ? errorMessage : '',
    }
  } catch {
    return undefined
  }
}

/** A collector may say what it was sent: the answer is stored as it is, and shown. */
function withoutSecrets(text: string, headers: Readonly<Record<string, string>>): string {
  const secrets = Object.values(headers).flatMap((value) => {
    const words = value.split(/[\s,;=:]+/)
    return [value, ...words, ...words.flatMap(decoded)]
  })
  return secrets
    .flatMap(encodings)
    .filter(({ length }) => length >= SECRET_CHARACTERS_MIN)
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, '***'), text)
}

/** The parts of what `Basic` encodes. */
function decoded(word: string): string[] {
  const text = Buffer.from(word, 'base64').toString('utf8')
  return text.includes(':') ? [text, ...text.split(':')] : []
}

/** As collectors write it: as it is, in JSON (PHP's has slashes escaped), in an address, and in base64. */
function encodings(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1)
  const inUrl = encodeURIComponent(secret)
  const lowerInUrl = inUrl.replaceAll(/%../g, (escape) => escape.toLowerCase())
  const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '')
  const spaced = inUrl.replaceAll('%20', '+')
  return [secret, json, json.replaceAll('/', '\\/'), inUrl, lowerInUrl, spaced, base64]
}

/** As text that PostgreSQL can store. */
function shown(text: string): string | null {
  return text.replaceAll('\0', ' ').toWellFormed().slice(0, ANSWER_SHOWN_MAX).toWellFormed() || null
}
