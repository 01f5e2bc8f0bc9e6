/** Chats in the format of the upstream: see `chat-body.ts` for what is sent of one. */
import type { ChatAnswer, Provider, UpstreamFailure } from '../contract.ts'
import { readError } from '../read-failure.ts'
import type { ChatBody } from './chat-body.ts'
import { exchange } from './exchange.ts'
import { BadAnswer, badAnswer, oneHeader, readObject, readRefused } from './read-answer.ts'
import { readStream } from './read-stream.ts'
import { readUsage } from './read-usage.ts'
import type { Upstream } from './upstream.ts'

/** A plain answer larger than this is refused as broken. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024
/** Usage in this format does not always tell sound from text, which has another price. */
const NO_AUDIO: UpstreamFailure = {
  kind: 'failure',
  reason: 'unsupported',
  detail: 'sound as a file is not sent in this format',
}
/** Some upstreams read the pages themselves, at a price for each. */
const NO_FILES: UpstreamFailure = {
  kind: 'failure',
  reason: 'unsupported',
  detail: 'this upstream bills the pages of files',
}

export function createCompleteChat(
  { pool, headers, path: pathOf }: Upstream,
  chatBody: ChatBody,
  takesFiles: boolean,
): NonNullable<Provider['completeChat']> {
  const path = pathOf('/chat/completions')
  return async function completeChat(call, signal) {
    if (call.hasAudio) return NO_AUDIO
    if (call.hasFiles && !takesFiles) return NO_FILES
    try {
      const request = {
        path,
        method: 'POST',
        headers: { ...headers, 'x-catraca-call-id': call.callId },
        body: chatBody.write(call),
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

/** Throws `BadAnswer`. */
function readAnswer(text: string): ChatAnswer {
  const body = readObject(text)
  if (!Array.isArray(body.choices)) throw new BadAnswer('the answer has no choices')
  return { kind: 'answer', body, usage: readUsage(body.usage) }
}

function isEventStream(contentType: string | undefined): boolean {
  return contentType?.toLowerCase().startsWith('text/event-stream') ?? false
}
