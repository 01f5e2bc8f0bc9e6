/** What every call does with the head and the body of an answer before it looks into it. */
import { isObject } from '../../lib/is-object.ts'
import type { JsonObject, UpstreamFailure } from '../contract.ts'
import { readRefusal } from '../read-failure.ts'
import type { Answered } from './exchange.ts'

/** Of an error's body no more than this is read. */
const ERROR_BYTES_MAX = 16 * 1024
/** How much of an error within an answer is kept for the operator's log. */
const DETAIL_CHARACTERS_MAX = 300

/** Thrown where an answer is not what was asked for. */
export class BadAnswer extends Error {}

/** An answer that is not a success. Its status says enough, where its body does not come whole. */
export async function readRefused(
  { status, headers, body }: Answered,
  signal: AbortSignal,
): Promise<UpstreamFailure> {
  const text = await body.text(ERROR_BYTES_MAX).catch((error: unknown) => {
    if (signal.aborted) throw error
    return ''
  })
  return readRefusal(status, oneHeader(headers['retry-after']), text)
}

/** Throws `BadAnswer`. */
export function readObject(text: string): JsonObject {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    throw new BadAnswer('the answer is not JSON')
  }
  if (!isObject(body)) throw new BadAnswer('the answer is not an object')
  return body
}

/** Some upstreams say that all is well and tell an error then. */
export function readToldError(body: JsonObject): UpstreamFailure | undefined {
  if (!body.error) return undefined
  const told = JSON.stringify(body.error).slice(0, DETAIL_CHARACTERS_MAX)
  return { kind: 'failure', reason: 'server_error', detail: `error in the answer: ${told}` }
}

export function badAnswer(detail: string): UpstreamFailure {
  return { kind: 'failure', reason: 'bad_answer', detail }
}

export function oneHeader(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}
