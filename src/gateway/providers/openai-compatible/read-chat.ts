import { beyond } from '../../../platform/admission/share.ts'
import {
  CHAT_ANSWER_BYTES_MAX,
  UNCOUNTED_BYTES,
  type ChatAnswer,
  type ChatCall,
  type ChatStream,
  type UpstreamFailure,
} from '../contract.ts'
import type { AnswerBody, Answered } from './exchange.ts'
import { badAnswer, isEventStream, oneHeader, readRefused } from './read-answer.ts'

/** How the answers of one format are read. */
export interface ChatReading {
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
