import { createSseReader } from '../../lib/sse.ts'
import {
  eventBytesMax,
  StreamBroken,
  type ChatContent,
  type ChatStream,
  type StreamChunk,
} from '../contract.ts'
import type { AnswerBody } from './exchange.ts'
import { readLateError } from '../read-late-error.ts'
import { createDeltaReader } from '../text-delta.ts'
import { CHAT_DELTAS } from './chat-deltas.ts'
import { createStream, type StreamParser } from './create-stream.ts'
import { hasFinishReason } from './has-finish-reason.ts'
import { createCallNumbers } from './number-calls.ts'
import { broken, parseEvent } from './parse-event.ts'
import { readUsage } from './read-usage.ts'
import { toPlainContent } from './to-plain-content.ts'

/** Parses a chat-completions event stream. */
export function readStream(
  body: AnswerBody,
  asked: Pick<ChatContent, 'outputTokensMax'>,
): ChatStream {
  return createStream(body, createParser(eventBytesMax(asked)))
}

function createParser(eventBytes: number): StreamParser {
  const reader = createSseReader(eventBytes)
  const deltas = createDeltaReader(CHAT_DELTAS)
  const calls = createCallNumbers()
  let hasFinished = false
  return {
    parse(bytes) {
      const chunks: StreamChunk[] = []
      for (const data of reader.push(bytes)) {
        const delta = calls.isChanged ? undefined : deltas.read(data)
        if (delta) {
          chunks.push(delta)
          continue
        }
        if (data === '[DONE]') return { chunks, end: 'done' }
        const chunk = parseChunk(data)
        if (chunk instanceof StreamBroken) return { chunks, end: chunk }
        calls.number(chunk.body)
        chunks.push(chunk)
        hasFinished ||= hasFinishReason(chunk.body)
        deltas.record(data, chunk.body)
      }
      return { chunks, end: undefined }
    },
    // Some upstreams close without `[DONE]`, but without a finish reason the answer is incomplete.
    faultAtEnd: () =>
      hasFinished
        ? undefined
        : broken('connection_lost', 'the stream ended without a finish reason'),
  }
}

function parseChunk(data: string): StreamChunk | StreamBroken {
  const chunk = parseEvent(data)
  if (chunk instanceof StreamBroken) return chunk
  const usage = chunk.usage ? readUsage(chunk.usage) : undefined
  if (chunk.error || chunk.object === 'error')
    return new StreamBroken(readLateError(chunk.error ?? chunk, 'error in the stream'), usage)
  toPlainContent(chunk, 'delta')
  return { body: chunk, usage }
}
