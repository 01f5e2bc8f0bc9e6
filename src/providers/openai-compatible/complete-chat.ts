/**
 * Chats pass through; only what the gateway decides is changed: the model's name, usage in streams, a
 * lowered limit.
 */
import type { ChatAnswer, ChatCall, JsonObject, Provider } from '../contract.ts'
import { readError } from '../read-failure.ts'
import { exchange } from './exchange.ts'
import { BadAnswer, badAnswer, oneHeader, readObject, readRefused } from './read-answer.ts'
import { readStream } from './read-stream.ts'
import { readUsage } from './read-usage.ts'
import type { Upstream } from './upstream.ts'

/** A plain answer larger than this is refused as broken. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024

export function createCompleteChat(
  { pool, headers, path: pathOf }: Upstream,
  maxTokensField: 'max_tokens' | 'max_completion_tokens',
): NonNullable<Provider['completeChat']> {
  const path = pathOf('/chat/completions')
  return async function completeChat(call, signal) {
    try {
      const request = {
        path,
        method: 'POST',
        headers: { ...headers, 'x-catraca-call-id': call.callId },
        body: JSON.stringify(requestBody(call, maxTokensField)),
      } as const
      const answered = await exchange(pool, request, signal)
      if (answered.status !== 200) return await readRefused(answered, signal)
      if (!call.isStream) return readAnswer(await answered.body.text(ANSWER_BYTES_MAX))
      if (isEventStream(oneHeader(answered.headers['content-type']))) {
        return readStream(answered.body)
      }
      answered.body.cancel()
      return badAnswer('a stream was asked for and something else came')
    } catch (error) {
      return error instanceof BadAnswer ? badAnswer(error.message) : readError(error)
    }
  }
}

function requestBody(call: ChatCall, maxTokensField: string): JsonObject {
  // As it is in most calls: copying it was measured to take a fiftieth of the gateway's time.
  if (call.outputTokensMax === undefined && !call.isStream) return call.body
  const body: JsonObject = { ...call.body }
  if (call.outputTokensMax !== undefined) body[maxTokensField] = call.outputTokensMax
  if (call.isStream) {
    const given =
      typeof body.stream_options === 'object' && body.stream_options !== null
        ? body.stream_options
        : {}
    body.stream_options = { ...given, include_usage: true }
  }
  return body
}

/** Throws `BadAnswer`. */
function readAnswer(text: string): ChatAnswer {
  const body = readObject(text)
  if (!Array.isArray(body.choices)) throw new BadAnswer('the answer has no choices')
  return { kind: 'answer', body, usage: readUsage(body.usage) }
}

function isEventStream(contentType: string | undefined): boolean {
  return contentType?.toLowerCase().startsWith('text/event-stream') ?? false
}
