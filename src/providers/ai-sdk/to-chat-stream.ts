import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import {
  StreamBroken,
  type ChatStream,
  type JsonObject,
  type StreamChunk,
  type UpstreamFailure,
} from '../contract.ts'
import { createToDeltas } from './to-deltas.ts'
import { toFailure } from './to-failure.ts'
import { refusalText, toFinishReason } from './to-finish-reason.ts'
import { toReportedUsage, type AskedOfUsage } from './to-reported-usage.ts'

type PartReader = ReadableStreamDefaultReader<LanguageModelV4StreamPart>

/** How long the end of an answer is awaited, so that its connection can be reused. */
const DISCARD_MS_MAX = 1_000

/**
 * Converts a stream of parts to chat-completions chunks, read as slowly as they are pulled. Aborting `canceller` ends
 * the request; `signal` combines the caller's signal and the canceller's.
 */
export function toChatStream(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  asked: AskedOfUsage,
  canceller: AbortController,
  signal: AbortSignal,
): ChatStream {
  return {
    kind: 'stream',
    chunks: readChunks(stream.getReader(), asked, canceller, signal),
    cancel: () => canceller.abort(),
  }
}

/** A stream that fails at its first chunk. */
export function brokenStream(failure: UpstreamFailure): ChatStream {
  return {
    kind: 'stream',
    // oxlint-disable-next-line require-yield -- There is nothing to deliver before the fault.
    chunks: (async function* () {
      throw new StreamBroken(failure)
    })(),
    cancel: () => {},
  }
}

async function* readChunks(
  reader: PartReader,
  asked: AskedOfUsage,
  canceller: AbortController,
  signal: AbortSignal,
): AsyncGenerator<StreamChunk[]> {
  const toDeltas = createToDeltas()
  let hasStarted = false
  let hasEnded = false
  try {
    for (;;) {
      const { done, value: part } = await reader.read()
      if (done) throw broken('the stream ended without a finish reason')
      if (part.type === 'error') throw part.error
      if (part.type === 'finish') {
        const chunk = lastChunk(part, hasStarted, asked)
        hasEnded = true
        discardRest(reader, canceller)
        yield [chunk]
        return
      }
      const chunks = toDeltas(part).map((delta, position) => {
        const isFirst = !hasStarted && position === 0
        return chunkOf(isFirst ? { role: 'assistant', ...delta } : delta, null)
      })
      if (chunks.length === 0) continue
      hasStarted = true
      yield chunks
    }
  } catch (error) {
    throw new StreamBroken(toFailure(error, signal))
  } finally {
    if (!hasEnded) canceller.abort()
  }
}

function lastChunk(
  { finishReason, usage, providerMetadata }: Extract<LanguageModelV4StreamPart, { type: 'finish' }>,
  hasStarted: boolean,
  asked: AskedOfUsage,
): StreamChunk {
  const finish = toFinishReason(finishReason)
  if (typeof finish === 'object') throw new StreamBroken(finish)
  const refusal = refusalText(providerMetadata)
  const delta = {
    ...(hasStarted ? {} : { role: 'assistant', content: '' }),
    ...(refusal === undefined ? {} : { refusal }),
  }
  return { ...chunkOf(delta, finish), usage: toReportedUsage(usage, hasStarted, asked) }
}

function chunkOf(delta: JsonObject, finishReason: string | null): StreamChunk {
  return {
    body: { choices: [{ index: 0, delta, finish_reason: finishReason }] },
    usage: undefined,
  }
}

function discardRest(reader: PartReader, canceller: AbortController): void {
  const timer = setTimeout(() => canceller.abort(), DISCARD_MS_MAX)
  const readOn = async (): Promise<void> => {
    while (!(await reader.read()).done);
  }
  // Events and errors after the end of the answer are ignored.
  readOn()
    .catch(() => {})
    .finally(() => clearTimeout(timer))
}

function broken(detail: string): StreamBroken {
  return new StreamBroken({ kind: 'failure', reason: 'connection_lost', detail })
}
