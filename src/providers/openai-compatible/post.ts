import type { Readable } from 'node:stream'
import type { JsonObject, UpstreamFailure } from '../contract.ts'
import { readError } from '../read-failure.ts'
import { exchange } from './exchange.ts'
import { BadAnswer, badAnswer, readObject, readRefused, readToldError } from './read-answer.ts'
import type { Upstream } from './upstream.ts'

export interface Post {
  readonly path: string
  readonly callId: string
  readonly body: string | AsyncIterable<Buffer>
  /** Of the body, where it is not JSON. */
  readonly headers?: Readonly<Record<string, string>>
  /** An answer longer than this is refused as broken. */
  readonly answerBytesMax: number
  /** The answer is no success, and its body may still be under way. */
  readonly onRefused?: () => void
}

/**
 * One call whose answer is a JSON object, which `read` makes something of or throws `BadAnswer`.
 * Never rejects for what the upstream or the network does.
 */
export async function post<Answer>(
  upstream: Upstream,
  { path, callId, body, headers, answerBytesMax, onRefused }: Post,
  signal: AbortSignal,
  read: (answer: JsonObject) => Answer | Promise<Answer>,
): Promise<Answer | UpstreamFailure> {
  try {
    const request = {
      path,
      method: 'POST',
      headers: { ...upstream.headers, ...headers, 'x-catraca-call-id': callId },
      // The dispatcher takes any iterable, which its types do not tell.
      body: body as string | Readable,
    } as const
    const pool = typeof body === 'string' ? upstream.pool : upstream.uploads
    const answered = await exchange(pool, request, signal)
    if (answered.status !== 200) {
      onRefused?.()
      return await readRefused(answered, signal)
    }
    const answer = readObject(await answered.body.text(answerBytesMax))
    return readToldError(answer) ?? (await read(answer))
  } catch (error) {
    if (signal.aborted) return { kind: 'failure', reason: 'aborted', detail: String(signal.reason) }
    return error instanceof BadAnswer ? badAnswer(error.message) : readError(error)
  }
}
