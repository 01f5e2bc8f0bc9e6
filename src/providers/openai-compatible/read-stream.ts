import { isObject } from '../../lib/is-object.ts'
import { createSseReader } from '../../lib/sse.ts'
import {
  EVENT_BYTES_MAX,
  StreamBroken,
  type ChatStream,
  type JsonObject,
  type StreamChunk,
} from '../contract.ts'
import type { AnswerBody } from './exchange.ts'
import { withErrorWords } from '../error-words.ts'
import { readError } from '../read-failure.ts'
import { readUsage } from './read-usage.ts'
import { toPlainContent } from './to-plain-content.ts'

/** Parses a chat-completions event stream into chunks, one array for each read from the network. */
export function readStream(body: AnswerBody): ChatStream {
  return {
    kind: 'stream',
    chunks: readChunks(body),
    cancel: () => body.cancel(),
  }
}

async function* readChunks(body: AnswerBody): AsyncGenerator<StreamChunk[]> {
  const reader = createSseReader(EVENT_BYTES_MAX)
  let hasFinished = false
  try {
    for (let bytes = await body.read(); bytes; bytes = await body.read()) {
      const { chunks, end } = parseChunks(reader.push(bytes))
      // Chunks before a fault are delivered, and charged, before the fault is thrown.
      if (chunks.length > 0) yield chunks
      if (end === 'done') return body.discard()
      if (end) throw end
      hasFinished ||= chunks.some(({ body }) => hasFinishReason(body))
    }
  } catch (error) {
    if (error instanceof StreamBroken) throw error
    if (error instanceof RangeError) throw broken('bad_answer', error.message)
    throw new StreamBroken(readError(error))
  }
  // Some upstreams close without `[DONE]`, but without a finish reason the answer is incomplete.
  if (!hasFinished) throw broken('connection_lost', 'the stream ended without a finish reason')
}

function parseChunks(events: string[]): {
  chunks: StreamChunk[]
  end: 'done' | StreamBroken | undefined
} {
  const chunks: StreamChunk[] = []
  for (const data of events) {
    if (data === '[DONE]') return { chunks, end: 'done' }
    const chunk = parseChunk(data)
    if (chunk instanceof StreamBroken) return { chunks, end: chunk }
    chunks.push(chunk)
  }
  return { chunks, end: undefined }
}

function parseChunk(data: string): StreamChunk | StreamBroken {
  let body: unknown
  try {
    body = JSON.parse(data)
  } catch {
    return broken('bad_answer', 'an event of the stream is not JSON')
  }
  if (!isObject(body)) {
    return broken('bad_answer', 'an event of the stream is not an object')
  }
  const chunk: JsonObject = body
  if (chunk.error || chunk.object === 'error')
    return broken(
      'server_error',
      withErrorWords('error in the stream', JSON.stringify(chunk.error ?? chunk)),
    )
  toPlainContent(chunk, 'delta')
  return { body: chunk, usage: chunk.usage ? readUsage(chunk.usage) : undefined }
}

function hasFinishReason(chunk: JsonObject): boolean {
  return (
    Array.isArray(chunk.choices) &&
    chunk.choices.some((choice: unknown) => Boolean((choice as JsonObject | null)?.finish_reason))
  )
}

function broken(
  reason: 'connection_lost' | 'bad_answer' | 'server_error',
  detail: string,
): StreamBroken {
  return new StreamBroken({ kind: 'failure', reason, detail })
}
