import type { Readable } from 'node:stream'
import type { TakeBytes } from '../../../platform/admission/share.ts'
import type { JsonObject, UpstreamFailure } from '../contract.ts'
import { exchange, type Answered } from './exchange.ts'
import { readCallError, readObject, readRefused, readReportedError } from './read-answer.ts'
import type { Upstream } from './upstream.ts'

interface Sent {
  readonly path: string
  readonly callId: string
  readonly body: string | AsyncIterable<Buffer>
  /** Headers of a body that is not JSON. */
  readonly headers?: Readonly<Record<string, string>>
  /** Called for an error status, when the body of the request may not be sent completely. */
  readonly onRefused?: () => void
}

export interface Post extends Sent {
  /** A longer answer fails with `answer_too_long`. */
  readonly answerBytesMax: number
  /** Counts the bytes of the answer as they arrive. */
  readonly takeBytes?: TakeBytes | undefined
  /** Parses the answer, in place of `readObject`. Throws `BadAnswer`. */
  readonly parse?: (text: string) => JsonObject | Promise<JsonObject>
}

/**
 * Sends one call whose answer is a JSON object. `read` converts the answer, or throws `BadAnswer`. Never rejects because
 * of the upstream or the network.
 */
export function post<Answer>(
  upstream: Upstream,
  { answerBytesMax, takeBytes, parse = readObject, ...sent }: Post,
  signal: AbortSignal,
  read: (answer: JsonObject) => Answer | Promise<Answer>,
): Promise<Answer | UpstreamFailure> {
  return postFor<Answer | UpstreamFailure>(upstream, sent, signal, async (answered) => {
    const answer = await parse(await answered.body.text(answerBytesMax, takeBytes))
    return readReportedError(answer) ?? (await read(answer))
  })
}

/** The same for an answer of any kind, which `read` reads. */
export async function postFor<Answer>(
  upstream: Upstream,
  { path, callId, body, headers, onRefused }: Sent,
  signal: AbortSignal,
  read: (answered: Answered) => Promise<Answer>,
): Promise<Answer | UpstreamFailure> {
  try {
    const request = {
      path,
      method: 'POST',
      headers: { ...upstream.headers, ...headers, 'x-catraca-call-id': callId },
    } as const
    const answered =
      typeof body === 'string'
        ? await exchange(upstream.origin, { ...request, body }, upstream.silence, signal)
        : await exchange(
            upstream.uploads,
            { ...request, body: asReadable(body) },
            upstream.silence,
            signal,
          )
    // 202: a job is accepted.
    if (answered.status !== 200 && answered.status !== 202) {
      onRefused?.()
      return await readRefused(answered, signal)
    }
    return await read(answered)
  } catch (error) {
    if (signal.aborted)
      return { kind: 'failure', reason: 'aborted', detail: 'the call was aborted' }
    return readCallError(error)
  }
}

/** The dispatcher accepts any async iterable, but its types do not say so. */
function asReadable(body: AsyncIterable<Buffer>): Readable {
  return body as Readable
}
