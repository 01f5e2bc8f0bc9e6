import { isObject } from '../../../platform/lib/is-object.ts'
import type { TakeBytes } from '../../../platform/admission/share.ts'
import { createSseReader } from '../../../platform/lib/sse.ts'
import {
  eventBytesMax,
  StreamBroken,
  type ChatStream,
  type JsonObject,
  type ReportedUsage,
  type StreamChunk,
  type TakeChunks,
} from '../contract.ts'
import { NoRoomForAnswer, readError, readLateError } from '../read-failure.ts'
import { broken, createStream, parseEvent, type StreamParser } from './create-stream.ts'
import type { AnswerBody } from './exchange.ts'
import { usageOf } from './read-transcription.ts'

/**
 * Reads a transcript while it is heard: OpenAI's events, Mistral's, or the chunks of vLLM, which end with `[DONE]`. The
 * whole text is kept until the end; `takeBytes` counts it.
 */
export function readTranscriptStream(
  body: AnswerBody,
  asked: { readonly outputTokensMax: number; readonly takeBytes: TakeBytes | undefined },
): ChatStream {
  const { takeBytes } = asked
  const parser = createParser(eventBytesMax(asked))
  const stream = createStream(body, parser)
  let bytesTaken = 0

  function give<Result>(chunks: readonly StreamChunk[], take: TakeChunks<Result>, isRoom: boolean) {
    if (isRoom) return take(chunks)
    stream.cancel()
    throw new StreamBroken(readError(new NoRoomForAnswer()))
  }

  return {
    ...stream,
    each: (take) =>
      stream.each((chunks) => {
        const bytes = parser.textBytes() - bytesTaken
        bytesTaken += bytes
        const isRoom = takeBytes?.(bytes) ?? true
        return typeof isRoom === 'boolean'
          ? give(chunks, take, isRoom)
          : isRoom.then((is) => give(chunks, take, is))
      }),
  }
}

function createParser(eventBytes: number): StreamParser & { textBytes(): number } {
  const reader = createSseReader(eventBytes)
  let text = ''
  let textBytes = 0
  /** A chunk of vLLM said that a part of the sound is done. */
  let hasFinishReason = false

  function delta(added: string): StreamChunk {
    text += added
    textBytes += Buffer.byteLength(added)
    return { body: { choices: [{ index: 0, delta: { content: added } }] }, usage: undefined }
  }

  function done(whole: unknown, usage: ReportedUsage | undefined): StreamChunk {
    // Some upstreams send the text, or the rest of it, with the end alone. A client has read the deltas: a whole text that
    // contradicts them is not shown.
    const isLonger = typeof whole === 'string' && whole.startsWith(text)
    const { body } = delta(isLonger ? whole.slice(text.length) : '')
    const [choice] = body.choices as [JsonObject]
    return { usage, body: { choices: [{ ...choice, finish_reason: 'stop' }], text } }
  }

  function chunkOf(event: JsonObject): StreamChunk | undefined {
    if (isEnd(event)) return done(event.text, usageOf(event))
    const choice: unknown = Array.isArray(event.choices) ? event.choices[0] : undefined
    if (isObject(choice)) hasFinishReason ||= typeof choice.finish_reason === 'string'
    const added = addedBy(event, choice)
    // What adds nothing is no output: until there is some, another route may answer.
    return added === '' ? undefined : delta(added)
  }

  return {
    textBytes: () => textBytes,
    parse(bytes) {
      const chunks: StreamChunk[] = []
      for (const data of reader.push(bytes)) {
        if (data === '[DONE]') {
          if (!hasFinishReason) return { chunks, end: endless() }
          chunks.push(done(undefined, undefined))
          return { chunks, end: 'done' }
        }
        const event = parseEvent(data)
        if (event instanceof StreamBroken) return { chunks, end: event }
        if (event.error || event.type === 'error') {
          const error = readLateError(event.error ?? event, 'error in the stream')
          return { chunks, end: new StreamBroken(error, usageOf(event)) }
        }
        const chunk = chunkOf(event)
        if (chunk) chunks.push(chunk)
        if (isEnd(event)) return { chunks, end: 'done' }
      }
      return { chunks, end: undefined }
    },
    faultAtEnd: endless,
  }
}

function endless(): StreamBroken {
  return broken('connection_lost', 'the transcript has no end')
}

function isEnd({ type }: JsonObject): boolean {
  return type === 'transcript.text.done' || type === 'transcription.done'
}

function addedBy({ type, delta, text }: JsonObject, choice: unknown): string {
  const added =
    type === 'transcript.text.delta'
      ? delta
      : type === 'transcription.text.delta'
        ? text
        : isObject(choice) && isObject(choice.delta)
          ? choice.delta.content
          : undefined
  return typeof added === 'string' ? added : ''
}
