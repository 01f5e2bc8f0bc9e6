/** Common steps for the answers of all kinds of calls, before their content is read. */
import { isObject } from '../../../platform/lib/is-object.ts'
import {
  type JsonObject,
  type UpstreamFailure,
  CHAT_ANSWER_BYTES_MAX,
  UNCOUNTED_BYTES,
  type ChatAnswer,
  type ChatCall,
  type ChatStream,
} from '../contract.ts'
import { withErrorWords } from '../error-words.ts'
import { parseAnswer, TooDeep } from '../parse-answer.ts'
import { readError, readRefusal } from '../read-failure.ts'
import type { Answered, AnswerBody } from './exchange.ts'
import { beyond } from '../../../platform/admission/share.ts'

/** The most that is read of the body of an error. */
const ERROR_BYTES_MAX = 16 * 1024

/** Thrown if an answer is malformed. */
export class BadAnswer extends Error {}

/** Returns the failure for an answer with an error status. If its body breaks off, the status is enough. */
export async function readRefused(
  { status, headers, body }: Answered,
  signal: AbortSignal,
): Promise<UpstreamFailure> {
  const text = await body.beginning(ERROR_BYTES_MAX).catch((error: unknown) => {
    if (signal.aborted) throw error
    return ''
  })
  return readRefusal(status, headers, text)
}

/** `shorten` and `parse` as in `parseAnswer`. Throws `BadAnswer`. */
export function readObject(
  text: string,
  shorten?: (value: unknown) => void,
  parse?: (text: string) => unknown,
): JsonObject {
  let body: unknown
  try {
    body = parseAnswer(text, shorten, undefined, parse)
  } catch (error) {
    throw new BadAnswer(error instanceof TooDeep ? error.message : 'the answer is not JSON')
  }
  if (!isObject(body)) throw new BadAnswer('the answer is not an object')
  return body
}

/**
 * Returns the failure that an answer reports: some upstreams report an error in the body of an answer with status 200.
 */
export function readReportedError(body: JsonObject): UpstreamFailure | undefined {
  if (!body.error) return undefined
  const detail = withErrorWords('error in the answer', JSON.stringify(body.error))
  return { kind: 'failure', reason: 'server_error', detail }
}

/** Returns the failure for a call that got no answer, only part of one, or a malformed one. */
export function readCallError(error: unknown): UpstreamFailure {
  return error instanceof BadAnswer ? badAnswer(error.message) : readError(error)
}

export function badAnswer(detail: string): UpstreamFailure {
  return { kind: 'failure', reason: 'bad_answer', detail }
}

export function oneHeader(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}

export function isEventStream(contentType: string | undefined): boolean {
  return contentType?.toLowerCase().startsWith('text/event-stream') ?? false
}

/** How the answers of one format are read. */
interface ChatReading {
  readonly isStream: boolean
  readonly takeBytes: ChatCall['takeBytes']
  /** Throws `BadAnswer`. */
  readonly plain: (text: string) => ChatAnswer | UpstreamFailure
  readonly stream: (body: AnswerBody) => ChatStream
}

/** Reads the answer to a chat, whatever its status. Rejects if it breaks off; see `readCallError`. */
export async function readChat(
  answered: Answered,
  { takeBytes, plain, stream, isStream }: ChatReading,
  signal: AbortSignal,
): Promise<ChatAnswer | ChatStream | UpstreamFailure> {
  const { status, headers, body } = answered
  if (status !== 200) return await readRefused(answered, signal)
  if (!isStream)
    return plain(
      await body.text(CHAT_ANSWER_BYTES_MAX, takeBytes && beyond(UNCOUNTED_BYTES, takeBytes)),
    )
  if (isEventStream(oneHeader(headers['content-type']))) return stream(body)
  body.cancel()
  return badAnswer('the answer is not the requested stream')
}
