import { isObject } from '../../../platform/lib/is-object.ts'
import {
  StreamBroken,
  type ChatStream,
  type JsonObject,
  type StreamChunk,
  type TakeChunks,
  type UpstreamFailure,
} from '../contract.ts'
import { readError } from '../read-failure.ts'
import type { AnswerBody } from './exchange.ts'
import { parseExactly } from '../../../platform/lib/exact-json.ts'
import { parseAnswer, TooDeep } from '../parse-answer.ts'

export interface Parsed {
  readonly chunks: readonly StreamChunk[]
  /** Follows the chunks; undefined if the stream goes on. */
  readonly end: 'done' | StreamBroken | undefined
}

export interface StreamParser {
  /** Throws a RangeError if an event is too long. */
  parse(bytes: Buffer): Parsed
  /** The fault of a stream that ends now, without its last event; undefined if it is complete all the same. */
  faultAtEnd(): StreamBroken | undefined
}

const DONE = Symbol('done')

/** A stream of the events in the body of an answer. */
export function createStream(body: AnswerBody, parser: StreamParser): ChatStream {
  let hasFinished = false

  /** A model thinks before its output, and between its items; not in the middle of a text, and not after the end. */
  function noteThinking(last: StreamChunk | undefined): void {
    if (!last) return
    hasFinished ||= last.delta === undefined && hasFinishReason(last.body)
    body.mayThink(!hasFinished && !hasOutput(last))
  }

  async function each<Result>(take: TakeChunks<Result>): Promise<Result | undefined> {
    body.mayThink(true)
    const result = await body.each((bytes) => {
      const { chunks, end } = parse(bytes)
      noteThinking(chunks.at(-1))
      // Chunks before a fault are delivered, and charged, before the fault is thrown.
      const taken = chunks.length > 0 ? take(chunks) : undefined
      if (end === undefined) return taken
      return taken instanceof Promise
        ? taken.then((found) => found ?? finish(end))
        : (taken ?? finish(end))
    })
    if (result !== undefined) return result === DONE ? undefined : result
    const failure = body.failure()
    const fault = failure ? new StreamBroken(readError(failure)) : parser.faultAtEnd()
    if (fault) throw fault
    return undefined
  }

  function parse(bytes: Buffer): Parsed {
    try {
      return parser.parse(bytes)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      return { chunks: [], end: broken('bad_answer', error.message) }
    }
  }

  function finish(end: 'done' | StreamBroken): typeof DONE {
    if (end === 'done') {
      body.discard()
      return DONE
    }
    // Nobody reads the rest: it would wait, and its connection with it.
    body.cancel()
    throw end
  }

  return { kind: 'stream', each, cancel: () => body.cancel() }
}

function hasOutput({ delta, body }: StreamChunk): boolean {
  if (delta) return true
  const choices = Array.isArray(body.choices) ? body.choices.filter(isObject) : []
  return choices.some((choice) => isObject(choice.delta) && addsOutput(choice.delta))
}

/** Many upstreams begin with a delta that has a role and an empty text. */
function addsOutput(delta: JsonObject): boolean {
  return Object.entries(delta).some(
    ([name, value]) => name !== 'role' && value !== null && value !== '',
  )
}

/** Whether a chunk of a stream ends one of its choices. */
export function hasFinishReason(chunk: JsonObject): boolean {
  return (
    Array.isArray(chunk.choices) &&
    chunk.choices.some((choice: unknown) => Boolean((choice as JsonObject | null)?.finish_reason))
  )
}

/** Returns the object in an event of a stream, or the fault that breaks the stream. */
export function parseEvent(data: string, depthMax?: number): JsonObject | StreamBroken {
  let event: unknown
  try {
    event = parseAnswer(data, undefined, depthMax, parseExactly)
  } catch (error) {
    const detail = error instanceof TooDeep ? error.message : 'an event of the stream is not JSON'
    return broken('bad_answer', detail)
  }
  return isObject(event) ? event : broken('bad_answer', 'an event of the stream is not an object')
}

export function broken(reason: UpstreamFailure['reason'], detail: string): StreamBroken {
  return new StreamBroken({ kind: 'failure', reason, detail })
}
