import { type LanguageModelV4StreamPart, TypeValidationError } from '@ai-sdk/provider'
import { isObject } from '../../../platform/lib/is-object.ts'
import {
  StreamBroken,
  type ChatStream,
  type JsonObject,
  type StreamChunk,
  type UpstreamFailure,
} from '../contract.ts'
import { assertShallow } from '../parse-answer.ts'
import { createToDeltas } from './to-deltas.ts'
import { toFailure } from './to-failure.ts'
import { refusalText, toFinishReason } from './to-finish-reason.ts'
import { toReportedUsage, type AskedOfUsage } from './to-reported-usage.ts'

/** The events that packages know of streams whose events have a type: Anthropic's, and Cohere's with hyphens. */
const KNOWN: ReadonlySet<string> = new Set([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
  'ping',
  'error',
  'message-start',
  'content-start',
  'content-delta',
  'content-end',
  'tool-plan-delta',
  'tool-call-start',
  'tool-call-delta',
  'tool-call-end',
  'citation-start',
  'citation-end',
  'message-end',
])

/** The events of parts of an answer, which have types of their own. */
const PARTS: ReadonlySet<string> = new Set(['content_block_start', 'content_block_delta'])

/**
 * Whether a package failed on an event of a type that its format has gained since, or on a new kind of block or delta.
 * Anthropic says that clients must ignore them; the package goes on after the error.
 */
function isNewEvent(error: unknown): boolean {
  if (!TypeValidationError.isInstance(error) || !isObject(error.value)) return false
  const { type } = error.value
  return typeof type === 'string' && (!KNOWN.has(type) || PARTS.has(type))
}

type PartReader = ReadableStreamDefaultReader<LanguageModelV4StreamPart>

/** How long the end of an answer is awaited, so that its connection can be reused. */
const DISCARD_MS_MAX = 1_000

/**
 * Converts a stream of parts to chat-completions chunks, read as slowly as they are pulled. Aborting `canceller` ends
 * the request; `signal` combines the caller's signal and the canceller's. `isNative`: the chunks also carry the events
 * in the client's own format, which the stream has as raw parts.
 */
export function toChatStream(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  asked: AskedOfUsage,
  canceller: AbortController,
  signal: AbortSignal,
  isNative = false,
): ChatStream {
  return {
    kind: 'stream',
    each: eachOf(readChunks(stream.getReader(), asked, canceller, signal, isNative)),
    cancel: () => canceller.abort(),
  }
}

/** A stream that fails at its first chunk. */
export function brokenStream(failure: UpstreamFailure): ChatStream {
  return {
    kind: 'stream',
    each: () => Promise.reject(new StreamBroken(failure)),
    cancel: () => {},
  }
}

/** Pulls the next chunks when those before are taken. */
function eachOf(pulled: AsyncIterable<readonly StreamChunk[]>): ChatStream['each'] {
  return async (take) => {
    for await (const chunks of pulled) {
      const result = await take(chunks)
      if (result !== undefined) return result
    }
    return undefined
  }
}

async function* readChunks(
  reader: PartReader,
  asked: AskedOfUsage,
  canceller: AbortController,
  signal: AbortSignal,
  isNative: boolean,
): AsyncGenerator<StreamChunk[]> {
  const toDeltas = createToDeltas()
  const events = createEventHolder(isNative)
  let hasStarted = false
  let hasEnded = false
  try {
    for (;;) {
      const { done, value: part } = await reader.read()
      if (done) throw broken('the stream ended without a finish reason')
      if (part.type === 'error') {
        if (isNewEvent(part.error)) continue
        throw part.error
      }
      if (part.type === 'finish') {
        const chunk = lastChunk(part, hasStarted, asked)
        hasEnded = true
        discardRest(reader, canceller)
        yield events.addTo([chunk])
        return
      }
      if (part.type === 'raw') {
        events.hold(part.rawValue)
        continue
      }
      const chunks = toDeltas(part).map((delta, position) => {
        const isFirst = !hasStarted && position === 0
        return chunkOf(isFirst ? { role: 'assistant', ...delta } : delta, null)
      })
      // Events without output wait for some: until then, another upstream could still answer.
      if (chunks.length === 0 && !(hasStarted && events.isHolding())) continue
      hasStarted = true
      yield events.addTo(chunks)
    }
  } catch (error) {
    throw error instanceof StreamBroken ? error : new StreamBroken(toFailure(error, signal))
  } finally {
    if (!hasEnded) canceller.abort()
  }
}

/** Holds an event until the parts that were read from it have come, so that it is counted before it is delivered. */
function createEventHolder(isNative: boolean) {
  let held: JsonObject[] = []
  return {
    hold(event: unknown): void {
      if (!isNative || !isObject(event)) return
      assertShallow(event)
      held.push(event)
    },
    isHolding: () => held.length > 0,
    addTo(chunks: StreamChunk[]): StreamChunk[] {
      if (!isNative) return chunks
      const [first = { body: { choices: [] }, usage: undefined }, ...others] = chunks
      const all = [{ ...first, native: held }, ...others.map((each) => ({ ...each, native: [] }))]
      held = []
      return all
    },
  }
}

function lastChunk(
  { finishReason, usage, providerMetadata }: Extract<LanguageModelV4StreamPart, { type: 'finish' }>,
  hasStarted: boolean,
  asked: AskedOfUsage,
): StreamChunk {
  const finish = toFinishReason(finishReason)
  const reported = toReportedUsage(usage, hasStarted, asked)
  if (typeof finish === 'object') throw new StreamBroken(finish, reported)
  const refusal = refusalText(providerMetadata)
  const delta = {
    ...(hasStarted ? {} : { role: 'assistant', content: '' }),
    ...(refusal === undefined ? {} : { refusal }),
  }
  return { ...chunkOf(delta, finish), usage: reported }
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
