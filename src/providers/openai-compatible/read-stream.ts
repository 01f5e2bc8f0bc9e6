import { isObject } from '../../lib/is-object.ts'
import { createSseReader } from '../../lib/sse.ts'
import {
  EVENT_BYTES_MAX,
  StreamBroken,
  type ChatStream,
  type JsonObject,
  type StreamChunk,
  type TextDelta,
} from '../contract.ts'
import type { AnswerBody } from './exchange.ts'
import { withErrorWords } from '../error-words.ts'
import { parseAnswer, TooDeep } from '../parse-answer.ts'
import { readError } from '../read-failure.ts'
import { createDeltaReader } from '../text-delta.ts'
import { readUsage } from './read-usage.ts'
import { toPlainContent } from './to-plain-content.ts'

/** Parses a chat-completions event stream into chunks, one array for each read from the network. */
export function readStream(body: AnswerBody): ChatStream {
  return {
    kind: 'stream',
    chunks: { [Symbol.asyncIterator]: () => createReader(body) },
    cancel: () => body.cancel(),
  }
}

type Read = IteratorResult<readonly StreamChunk[], undefined>

const END: Read = { done: true, value: undefined }

/** An iterator and not a generator, which costs four more promises for each read. */
function createReader(body: AnswerBody): AsyncIterator<readonly StreamChunk[], undefined> {
  const parse = createParser()
  /** Of the events after the chunks that were delivered last. */
  let end: 'done' | StreamBroken | undefined
  let hasFinished = false

  function take(bytes: Buffer | undefined): Read | Promise<Read> {
    try {
      return takeParsed(bytes)
    } catch (error) {
      fail(error)
    }
  }

  function takeParsed(bytes: Buffer | undefined): Read | Promise<Read> {
    // Some upstreams close without `[DONE]`, but without a finish reason the answer is incomplete.
    if (!bytes && !hasFinished)
      throw broken('connection_lost', 'the stream ended without a finish reason')
    if (!bytes) return END
    const parsed = parse(bytes)
    const { chunks } = parsed
    end = parsed.end
    hasFinished ||= parsed.hasFinished
    // Chunks before a fault are delivered, and charged, before the fault is thrown.
    return chunks.length > 0 ? { done: false, value: chunks } : next()
  }

  function next(): Promise<Read> {
    if (end === undefined) return body.read().then(take, fail)
    if (end !== 'done') return Promise.reject(end)
    body.discard()
    return Promise.resolve(END)
  }

  return { next }
}

function fail(error: unknown): never {
  if (error instanceof StreamBroken) throw error
  if (error instanceof RangeError) throw broken('bad_answer', error.message)
  throw new StreamBroken(readError(error))
}

interface Parsed {
  readonly chunks: readonly StreamChunk[]
  readonly end: 'done' | StreamBroken | undefined
  /** A chunk has a finish reason. */
  readonly hasFinished: boolean
}

function createParser(): (bytes: Buffer) => Parsed {
  const reader = createSseReader(EVENT_BYTES_MAX)
  const deltas = createDeltaReader()
  return (bytes) => {
    const chunks: StreamChunk[] = []
    let hasFinished = false
    for (const data of reader.push(bytes)) {
      const delta = deltas.read(data)
      if (delta) {
        chunks.push(new DeltaChunk(delta))
        continue
      }
      if (data === '[DONE]') return { chunks, end: 'done', hasFinished }
      const chunk = parseChunk(data)
      if (chunk instanceof StreamBroken) return { chunks, end: chunk, hasFinished }
      chunks.push(chunk)
      hasFinished ||= hasFinishReason(chunk.body)
      deltas.record(data, chunk.body)
    }
    return { chunks, end: undefined, hasFinished }
  }
}

class DeltaChunk implements StreamChunk {
  readonly usage = undefined
  readonly delta: TextDelta
  constructor(delta: TextDelta) {
    this.delta = delta
  }
  get body(): JsonObject {
    return this.delta.like.bodyWith(this.delta.text)
  }
}

function parseChunk(data: string): StreamChunk | StreamBroken {
  let body: unknown
  try {
    body = parseAnswer(data)
  } catch (error) {
    const detail = error instanceof TooDeep ? error.message : 'an event of the stream is not JSON'
    return broken('bad_answer', detail)
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
