import { StreamBroken, type ChatStream, type StreamChunk, type TakeChunks } from '../contract.ts'
import { readError } from '../read-failure.ts'
import type { AnswerBody } from './exchange.ts'
import { broken } from './parse-event.ts'

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
  async function each<Result>(take: TakeChunks<Result>): Promise<Result | undefined> {
    const result = await body.each((bytes) => {
      const { chunks, end } = parse(bytes)
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
