import { isObject } from '../../../platform/lib/is-object.ts'
import { createSseReader } from '../../../platform/lib/sse.ts'
import {
  eventBytesMax,
  StreamBroken,
  type ChatContent,
  type ChatStream,
  type StreamChunk,
  type UpstreamFailure,
} from '../contract.ts'
import type { AnswerBody } from './exchange.ts'
import { readLateError } from '../read-failure.ts'
import { createDeltaReader } from '../text-delta.ts'
import { CHAT_DELTAS } from './chat-deltas.ts'
import {
  createStream,
  type StreamParser,
  hasFinishReason,
  broken,
  parseEvent,
} from './create-stream.ts'
import { createCallNumbers } from './number-calls.ts'
import { readUsage, usageIn } from './read-usage.ts'
import { toPublishedForm } from './to-published-form.ts'

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
  const ends = createEnds()
  return {
    parse(bytes) {
      const chunks: StreamChunk[] = []
      for (const data of reader.push(bytes)) {
        const delta = calls.isChanged ? undefined : deltas.read(data)
        if (delta) {
          chunks.push(delta)
          continue
        }
        if (data === '[DONE]') {
          const end = ends.atDone()
          if (end instanceof StreamBroken) return { chunks, end }
          if (end) chunks.push(end)
          return { chunks, end: 'done' }
        }
        const chunk = parseChunk(data)
        if (chunk instanceof StreamBroken) return { chunks, end: chunk }
        ends.note(chunk)
        calls.number(chunk.body)
        chunks.push(chunk)
        deltas.record(data, chunk.body)
      }
      return { chunks, end: undefined }
    },
    // Some upstreams close without `[DONE]`, but without a finish reason the answer is incomplete.
    faultAtEnd: () => ends.failed() ?? ends.unfinished(),
  }
}

/**
 * How a stream ends. A choice that failed breaks the stream at its end, so that the usage which follows it is charged. A
 * stream that ends with `[DONE]` and names no finish reason gets one: clients wait for it.
 */
function createEnds() {
  let failure: UpstreamFailure | undefined
  let reported: StreamChunk['usage']
  let hasFinished = false
  let hasChoices = false
  let hasCalls = false
  const failed = (): StreamBroken | undefined => failure && new StreamBroken(failure, reported)
  return {
    note({ body, usage }: StreamChunk): void {
      failure = toPublishedForm(body, 'delta') ?? failure
      reported = usage ?? reported
      hasFinished ||= hasFinishReason(body)
      const choices = Array.isArray(body.choices) ? body.choices.filter(isObject) : []
      hasChoices ||= choices.length > 0
      hasCalls ||= choices.some(({ delta }) => isObject(delta) && Array.isArray(delta.tool_calls))
    },
    failed,
    unfinished: () =>
      hasFinished
        ? undefined
        : broken('connection_lost', 'the stream ended without a finish reason'),
    atDone(): StreamChunk | StreamBroken | undefined {
      if (failure) return failed()
      if (!hasChoices) return broken('bad_answer', 'the answer has no choices')
      if (hasFinished) return undefined
      const finish = hasCalls ? 'tool_calls' : 'stop'
      return {
        body: { choices: [{ index: 0, delta: {}, finish_reason: finish }] },
        usage: undefined,
      }
    },
  }
}

function parseChunk(data: string): StreamChunk | StreamBroken {
  const chunk = parseEvent(data)
  if (chunk instanceof StreamBroken) return chunk
  const reported = usageIn(chunk)
  const usage = reported ? readUsage(reported) : undefined
  if (chunk.error || chunk.object === 'error')
    return new StreamBroken(readLateError(chunk.error ?? chunk, 'error in the stream'), usage)
  return { body: chunk, usage }
}
